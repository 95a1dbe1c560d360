import type { Dict } from '../data/values/value.ts';
import type { PlainDict } from '../protocol/plain.ts';

/** `base: [folder, …]` by saltenv, absolute. */
export type Roots = Readonly<Record<string, readonly string[]>>;

/** One roster: which backend reads it, and its file, folder, command or CIDR. */
export type RosterSource = { readonly backend: string; readonly source: string };

/** Every option of the control node, with defaults filled in. Names are Salt's. */
export type Config = {
  /** The project folder: what relative paths start from. Absolute. */
  readonly dir: string;
  /** The file that was read; absent when there is none. */
  readonly file?: string;
  /** All keys as written, own and unknown ones: `config.get 'test.foo'`, `opts` in templates. */
  readonly options: Dict;

  readonly file_roots: Roots;
  readonly pillar_roots: Roots;
  readonly saltenv?: string;
  readonly pillarenv?: string;
  /** Where hosts come from, in order; a later source overrides an earlier one's keys. */
  readonly rosters: readonly RosterSource[];
  /** Defaults of roster entries: the `ssh_*` options, then `roster_defaults`. */
  readonly roster_defaults: Dict;
  readonly renderer: string;
  readonly renderer_whitelist: readonly string[];
  readonly renderer_blacklist: readonly string[];
  /** Groups: an expression, or a list of its parts. */
  readonly nodegroups: Readonly<Record<string, string | readonly string[]>>;
  /** Private to this user, mode 0700 once made. */
  readonly cachedir: string;
  readonly ssh_max_procs: number;
  readonly ssh_minion_opts: PlainDict;
  readonly ssh_config_file?: string;
  readonly known_hosts_file?: string;
  readonly ssh_wipe: boolean;
  readonly ssh_run_pre_flight: boolean;
  /** Keep each host's grains: its next state run is rendered with them while it starts. */
  readonly minion_data_cache: boolean;
  /** Hosts may send files (`cp.push`) into their own folders below `cachedir`. */
  readonly file_recv: boolean;
  /** The largest file that is taken, in MB. */
  readonly file_recv_max_size: number;
  /** Files of the file and pillar roots that are hidden; see `fileserver/`. */
  readonly file_ignore_glob?: readonly string[];
  readonly file_ignore_regex?: readonly string[];
  readonly fileserver_followsymlinks?: boolean;
  readonly fileserver_ignoresymlinks?: boolean;
  /** Folders of modules besides those of the file roots; see `module-dirs.ts`. */
  readonly extension_modules?: string;
  readonly module_dirs?: readonly string[];
  readonly states_dirs?: readonly string[];
  readonly grains_dirs?: readonly string[];
  readonly utils_dirs?: readonly string[];
  readonly outputter_dirs?: readonly string[];
  readonly matchers_dirs?: readonly string[];
  readonly returner_dirs?: readonly string[];
  readonly pillar_dirs?: readonly string[];
  /** Archives of Node that hosts download themselves, by platform; see `transport/node-mirror.ts`. */
  readonly node_mirror?: PlainDict;
  /** Node releases that replace the built-in ones, by platform; see `transport/node-release.ts`. */
  readonly node_release?: PlainDict;
  readonly state_top: string;
  readonly state_top_saltenv?: string;
  readonly top_file_merging_strategy: 'merge' | 'merge_all' | 'same';
  readonly default_top: string;
  readonly env_order: readonly string[];
  readonly pillar_source_merging_strategy:
    | 'smart'
    | 'aggregate'
    | 'overwrite'
    | 'recurse'
    | 'none'
    | 'list';
  readonly pillar_merge_lists: boolean;
  readonly pillar_includes_override_sls: boolean;
  readonly pillar_raise_on_missing: boolean;
  readonly ext_pillar: readonly PlainDict[];
  readonly ext_pillar_first: boolean;
  readonly failhard: boolean;
  /** Refuse state arguments that would be ignored. */
  readonly strict: boolean;
  readonly state_aggregate: boolean | readonly string[];
  /** The functions that `mine.get` and `publish.publish` may ask all hosts for, with arguments. */
  readonly mine_functions: PlainDict;
  /** How `mine.get` treats a host that does not respond. */
  readonly mine_missing: 'error' | 'cached' | 'skip';
  /** The hosts that `mine.get` may ask: those of the run, or of the roster. */
  readonly mine_reach: 'run' | 'roster';
  /** Seconds for which results of the mine are kept. */
  readonly mine_ttl: number;
  /** Seconds for which one answer of a host is awaited. */
  readonly mine_timeout: number;
  /** The address of the queue of `via`, or where it stands (`env:NAME`, `file:PATH`). */
  readonly queue?: string;
  /** The public keys of the workers, one or a list, by segment. */
  readonly workers: PlainDict;
  /** Returners of every run, names with commas between. */
  readonly ext_job_cache?: string;
  /** Settings of returners, by name. */
  readonly returners: PlainDict;
  readonly state_auto_order: boolean;
  readonly test: boolean;
  readonly providers: PlainDict;
  readonly state_output: string;
  readonly state_verbose: boolean;
  readonly state_tabular: boolean | string;
  readonly state_output_diff: boolean;
  readonly state_output_profile: boolean;
  readonly state_output_pct: boolean;
  readonly state_compress_ids: boolean;
  readonly state_output_exclude: readonly string[];
  readonly state_output_terse: readonly string[];
};
