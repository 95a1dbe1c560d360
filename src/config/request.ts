import type { Ranges } from '../data/taint.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { Host, Secret } from '../protocol/host.ts';
import type { StepReturns } from '../protocol/orchestration.ts';
import type { AppliedPlan, Prediction } from '../protocol/plan.ts';
import type { StateSelection } from '../protocol/state-selection.ts';
import type { Sdb } from '../sdb/sdb.ts';
import type { Config } from './config.ts';

export type TargetType =
  | 'glob'
  | 'pcre'
  | 'list'
  | 'nodegroup'
  | 'grain'
  | 'grain_pcre'
  | 'pillar'
  | 'pillar_pcre'
  | 'ipcidr'
  | 'compound';

/** The subject of a prompt. The caller keeps the answer for the whole run. */
export type PromptQuestion = {
  readonly host: string;
  readonly what: 'password' | 'sudo-password' | 'passphrase' | 'keyboard-interactive';
  /** The text shown to the person, without a newline. */
  readonly prompt: string;
};

/** One invocation: the parsed command line, which `control` carries out. */
export type Request = {
  readonly target: string;
  readonly targetType: TargetType;
  /** Between the keys of a nested grain or pillar target. */
  readonly delimiter: string;
  readonly fun: string;
  /** Positional arguments, YAML-typed as Salt does. */
  readonly args: readonly Data[];
  /** `key=value` arguments, YAML-typed as Salt does. */
  readonly kwargs: Dict;
  /** The shell command of `-r`, or one for each host; `fun` and `args` are ignored then. */
  readonly raw?: string | ((host: Host) => string);
  readonly config: Config;
  /** The stores behind `sdb://` addresses. */
  readonly sdb: Sdb;
  /** The environment for ssh: agent, programs, home folder. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The whole roster, defaults filled in; control picks the targets. */
  readonly hosts: readonly Host[];
  /** Where the roster was read, for messages. */
  readonly rosters?: RosterSources;
  /**
   * Returns a host with the secrets that its roster entry only refers to (a command to run, a
   * prompt). Call it once for each host that matched, before connecting to it.
   */
  readonly prepareHost: (host: Host) => Promise<Host>;
  /** Asks the user at the terminal. Throws `TsaltError('no-terminal')` without one. */
  readonly ask: (question: PromptQuestion) => Promise<Secret>;
  /** Asks a yes-or-no question; absent without a terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Asks whether a state that would change something may run (`--step`). */
  readonly decide?: (host: string, predicted: Prediction) => Promise<boolean>;
  readonly options: FleetRunOptions;
  /** Hosts have an empty pillar: the run answers a request of another host's pillar. */
  readonly withoutPillar?: boolean;
  /** The results of earlier steps, if this run is a step of an orchestration. */
  readonly steps?: StepResults;
  /** The plan to apply: its chunks are sent instead of those that states compile to. */
  readonly planned?: AppliedPlan;
};

/** The earlier steps of an orchestration, for the hosts of a later one. */
export type StepResults = {
  /** The number of orchestrations around this run. */
  readonly depth: number;
  /** Returns the returns of a finished step, by host; undefined before it has finished. */
  readonly of: (id: string) => StepReturns | undefined;
  /** The orchestration only predicts: some steps have no returns. */
  readonly isTest: boolean;
  /** Records that the states of a host need a step that has not finished. */
  readonly missed: (host: string, id: string) => void;
  /** Strings among the arguments that hosts sent. */
  readonly tainted: readonly { readonly text: string; readonly ranges: Ranges }[];
};

export type RosterSources = {
  /** Files and other sources that were read. */
  readonly sources: readonly string[];
  /** The folder in which a roster would be found by its name. */
  readonly folder: string;
};

export type FleetRunOptions = {
  readonly maxProcs: number;
  /** Processes of this machine that share the hosts. Absent: this process alone. */
  readonly workers?: number | 'auto';
  /** Sizes of the first batches; the last one repeats. */
  readonly batch?: readonly BatchSize[];
  /** `lockstep`, the default, waits for a whole batch. */
  readonly batchMode?: 'lockstep' | 'sliding';
  /** Seconds between two batches, or before a host is replaced by the next one. */
  readonly batchWait?: number;
  /** A function that must succeed on the hosts of a batch before the next one begins. */
  readonly batchCheck?: {
    readonly fun: string;
    readonly args: readonly Data[];
    readonly kwargs: Dict;
  };
  /** Ask before each batch but the first. */
  readonly batchAsk?: boolean;
  /** No further host begins after this many failures. */
  readonly maxFail?: BatchSize;
  readonly order?: HostOrder;
  readonly limit?: Limit;
  /** A compound expression: hosts that are left out. */
  readonly exclude?: string;
  /** Begin no further host after the first failure. */
  readonly failhard: boolean;
  /** A part of the states: `--only`, `--skip`, `--tags`, `--from` and others. */
  readonly selection?: StateSelection;
  /** Refuse state arguments that would be ignored (`--strict`). */
  readonly strict: boolean;
  /**
   * `--guard`: seconds within which the host must be reachable after its states; otherwise it rolls
   * back.
   */
  readonly guard?: number;
  /** The run makes a plan: states predict all their changes. */
  readonly plan?: boolean;
  /** `--drift`: whether further hosts begin after one that differs from its plan. */
  readonly drift?: 'stop' | 'continue';
  /** `--dry-run`: only functions with a test mode may be called. */
  readonly dryRun: boolean;
  /** Test mode from the command line; if it is absent, each host's own setting applies. */
  readonly test?: boolean;
  /** Seconds that one host may take, connection included; absent: no limit. */
  readonly timeout?: number;
  readonly static: boolean;
  readonly wipe: boolean;
  readonly randomThinDir: boolean;
  readonly regen: boolean;
  /** Run `ssh_pre_flight` even if the workspace exists. */
  readonly preFlight: boolean;
  /** `--key-deploy`: write the public key to hosts that do not accept it yet. */
  readonly keyDeploy: boolean;
  /** `--no-ssh-config`: ignore the user's and the system's ssh configuration. */
  readonly noSshConfig: boolean;
  readonly acceptNewHostKeys: boolean;
  /** `-i`: no check of host keys at all. */
  readonly ignoreHostKeys: boolean;
  readonly jid: string;
  /** `--resume`: the job id of the orchestration whose unfinished steps run. */
  readonly resume?: string;
};

/** A number of hosts, or a part of all. */
export type BatchSize = { readonly count: number } | { readonly percent: number };

/** `--limit`: a compound expression, or the ids of a file. */
export type Limit = { readonly expression: string } | { readonly ids: readonly string[] };

/** `--order`: the order of hosts. Without it, a list keeps its own order. */
export type HostOrder = 'roster' | 'random' | 'reverse' | 'alphabetical';
