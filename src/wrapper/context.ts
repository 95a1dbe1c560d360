import type { Config } from '../config/config.ts';
import type { SlsLoader } from '../data/sls.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { LogLevel } from '../protocol/job.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import type { StateResults } from '../protocol/result.ts';
import type { StateSelection } from '../protocol/state-selection.ts';
import type { Sdb } from '../sdb/sdb.ts';
import type { Matchers } from '../targeting/match.ts';

/**
 * The context of a function of the control node: one host's run. Made by
 * `control/host/wrapper-context.ts`.
 */
export type WrapperContext = {
  readonly id: string;
  readonly grains: Dict;
  /** The host's options (minion opts over tsalt.yaml): `opts` in templates. */
  readonly opts: Dict;
  /** tsalt.yaml as written. */
  readonly masterOpts: Dict;
  readonly config: Config;
  readonly sdb: Sdb;
  /** Nodegroups as expressions, by name. */
  readonly nodegroups: Readonly<Record<string, string | readonly string[]>>;
  /** The user's matchers, for top files. */
  readonly matchers: Matchers;
  /** The pillar of this run, with the CLI's override; compiled once. Throws `pillarFailure` (`compiler/pillar.ts`) when it has errors. */
  readonly pillar: () => Promise<Dict>;
  /** Compiles the pillar with other settings; throws as `pillar` does. */
  readonly compilePillar: (settings: PillarSettings) => Promise<Dict>;
  /** Compiles the run's pillar again; throws as `pillar` does and then keeps the old one. */
  readonly refreshPillar: () => Promise<void>;
  /**
   * Runs `ext_pillar` sources and returns their data; `settings` replaces those of the
   * configuration.
   */
  readonly extPillar: (settings: Data) => Promise<Dict>;
  readonly pillarFileExists: (path: string, saltenv: string) => boolean;
  readonly files: FileListing;
  /** Reads a text file of the roots. */
  readonly readFile: (path: string, saltenv?: string) => Promise<string | undefined>;
  /** Renders a file of the roots, or a text, through a pipe. */
  readonly renderAny: (request: {
    path: string | undefined;
    text: string | undefined;
    pipe: string;
    extra: Dict;
  }) => Promise<Data>;
  /** Makes a loader of the SLS in the file roots, rendered for this host with this pillar. */
  readonly loader: (pillar: Dict) => SlsLoader;
  /** Renders text as an SLS for `state.template` (a file) and `state.template_str`. */
  readonly renderSls: (
    text: string,
    name: string,
    pillar: Dict,
    origin?: 'user-file',
  ) => Promise<Data>;
  /** Calls an execution function: here if it belongs to the control node, otherwise on the host. */
  readonly call: (fun: string, args: readonly Data[], kwargs: Dict) => Promise<Data>;
  /**
   * Lists the functions of the host, without those that `__virtual__` or `depends` removed there.
   * Undefined for calls from templates and from the host.
   */
  readonly available: ((kind: 'exec' | 'state') => Promise<ReadonlySet<string>>) | undefined;
  /** Runs low chunks on the host; results arrive in run order and are also emitted as events. */
  readonly run: (chunks: readonly LowChunk[], settings: RunSettings) => Promise<RunOutcome>;
  /** Runs low chunks in test mode, beside the run: they are not reported as events. */
  readonly predict: (chunks: readonly LowChunk[], settings: RunSettings) => Promise<RunOutcome>;
  /**
   * Asks other hosts to call a function of their `mine_functions`; the results are tainted. Absent
   * if no host can be asked.
   */
  readonly askHosts: ((question: HostQuestion) => Promise<ReadonlyMap<string, Data>>) | undefined;
  /** The orchestration that the run is, or to which it belongs as a step. */
  readonly orchestration: OrchestrationView | undefined;
  /** The states to run. */
  readonly selection: StateSelection | undefined;
  /** All modules of the artifact. */
  readonly modules: readonly ModuleMeta[];
  readonly log: (level: LogLevel, module: string, message: string) => void;
  /**
   * True if configuration or command line set test mode; a `test=` argument of the call overrides
   * it.
   */
  readonly test: boolean;
};

/** A question to other hosts. */
export type HostQuestion = {
  readonly tgt: string | readonly string[];
  readonly tgt_type: string;
  readonly fun: string;
  readonly args?: readonly Data[];
};

/** An orchestration, for functions of the control node. */
export type OrchestrationView = {
  /** Returns the returns of a finished step, by host; undefined before it has finished. */
  readonly returns: (id: string) => Dict | undefined;
  /** The orchestration only predicts: some steps have no returns. */
  readonly isTest: boolean;
  /** Set if the run is the orchestration itself, not a step of it. */
  readonly conducts?: {
    /** Checks all steps before the first one; returns their errors. */
    readonly prepare: (chunks: readonly LowChunk[], isTest: boolean) => Promise<readonly string[]>;
    /** Does work in which all steps are predicted, to be compared with the plan that is applied. */
    readonly rehearse: <T>(work: () => Promise<T>) => Promise<T>;
    /** @throws TsaltError `plan-drift` where hosts differ from the plan */
    readonly refuseDrift: () => void;
    /**
     * The results of steps that do not run again.
     *
     * @param all the steps of the orchestration, where a part of them runs
     */
    readonly finished: (chunks: readonly LowChunk[], all?: readonly LowChunk[]) => StateResults;
  };
};

export type PillarSettings = {
  readonly pillarenv?: string;
  readonly saltenv?: string;
  readonly override?: Dict;
};

export type FileListing = {
  readonly envs: () => readonly string[];
  readonly list: (saltenv: string) => readonly string[] | Promise<readonly string[]>;
  readonly listDirs: (saltenv: string) => readonly string[] | Promise<readonly string[]>;
  readonly listStates: (saltenv: string) => readonly string[] | Promise<readonly string[]>;
  /** Links and their targets. */
  readonly listSymlinks: (
    saltenv: string,
  ) => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  readonly exists: (
    path: string,
    saltenv: string,
    kind: 'file' | 'dir',
  ) => boolean | Promise<boolean>;
};

export type RunSettings = {
  readonly test: boolean;
  readonly saltenv: string;
  /** The pillar with which these chunks were rendered. */
  readonly pillar: Dict;
  /** The settings of that pillar, in case the run has to compile it again. */
  readonly pillarSettings?: PillarSettings;
  readonly queue?: boolean | number;
  readonly concurrent?: boolean;
  /** Results of states that are not run again. */
  readonly finished?: StateResults;
  /** Further options for the run: `state_aggregate`, `failhard`, `localconfig` … */
  readonly opts?: Dict;
};

export type RunOutcome = { readonly states: StateResults; readonly retcode: number };
