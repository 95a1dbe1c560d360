import type { GuardParams } from './guard.ts';
import type { LowChunk } from './low.ts';
import type { EventWait, NestedOrchestration, OrchestrationStep } from './orchestration.ts';
import type { Plain, PlainDict } from './plain.ts';
import type { Prediction } from './plan.ts';
import type { StateResult, StateResults } from './result.ts';
import type { StackPosition } from './stack.ts';

export const protocolVersion = 1;

/** The first thing the runtime says after the marker, as event `hello`. */
export type Hello = {
  readonly protocol: number;
  readonly node: string;
  readonly pid: number;
  readonly user: string;
  readonly grains: PlainDict;
};

/** Options sent with every job: the host's minion opts and, when a module needs it, its pillar. */
export type HostOpts = PlainDict & { id: string; test: boolean; saltenv: string };

/** Request `call`: one execution function. */
export type CallParams = {
  readonly fun: string;
  readonly args: readonly Plain[];
  readonly kwargs: PlainDict;
  readonly opts: HostOpts;
  readonly pillar?: PlainDict;
};

export type CallResult = {
  readonly value: Plain;
  /** `__context__.retcode` after the call, 0 when unset. */
  readonly retcode: number;
};

/** Request `names`: functions that this host has, without those that its modules took away. */
export type NamesParams = {
  readonly kind: 'exec' | 'state';
  readonly opts: HostOpts;
  readonly pillar?: PlainDict;
};

/** Request `run`: ordered low chunks. Every finished state is an event `state`. */
export type RunParams = {
  readonly chunks: readonly LowChunk[];
  readonly opts: HostOpts;
  readonly pillar?: PlainDict;
  /** The function the user called, shown to others that wait for the lock. */
  readonly fun?: string;
  /** Wait for a run that holds the host's lock, instead of refusing; a number: unless that many wait already. */
  readonly queue?: boolean | number;
  /** The job's number: its runs on one host, which may have several names, take turns. */
  readonly job?: string;
  /** Run beside a run that holds the lock. */
  readonly concurrent?: boolean;
  /** Takes up a run that a restart of the host interrupted. */
  readonly resume?: Resume;
  /** The host takes back what cuts it off; see `GuardParams`. */
  readonly guard?: GuardParams;
  /** Results of states that an earlier run of the same chunks has finished: they do not run again. */
  readonly results?: StateResults;
  /** Ask control before each state that would change something (`state.decide`). */
  readonly step?: boolean;
  /** Data that control fetched ahead (`protocol/prefetch.ts`): `__context__.__prefetch__` in modules. */
  readonly prefetch?: unknown;
};

/**
 * `aborted`: the run was stopped before its last state. An invalid job and a host locked by another
 * run (`run-conflict`) are errors of the request.
 */
export type RunResult = {
  readonly retcode: number;
  readonly aborted?: string;
  /** The run stands still until the host is restarted; it is to be taken up again then. */
  readonly restart?: Restart;
};

/** A state asks control to restart the host and to go on with that state afterwards. */
export type Restart = {
  /** The state's tag. */
  readonly tag: string;
  /** The kernel's id of the boot that is to end. */
  readonly boot: string;
  /** Minutes that people on the host are warned before. */
  readonly delay: number;
  readonly message?: string;
  /** Seconds the host may take to come back. */
  readonly wait: number;
  /** Data of modules that the rest of the run needs. */
  readonly kept: PlainDict;
};

/** The state of a run that continues after a restart. */
export type Resume = {
  readonly restart: Restart;
  /** The results of the states before the restart. */
  readonly results: StateResults;
  /** Seconds the restart took. */
  readonly took: number;
  /** Why there was no restart. */
  readonly failed?: string;
};

/** Event `state-start` (host to control). */
export type StateStarted = {
  readonly tag: string;
  readonly id: string;
  readonly fun: string;
  readonly name: Plain;
};
/** Event `state` (host to control). */
export type StateFinished = {
  readonly tag: string;
  readonly result: StateResult;
  /** The tag of the event that the state's `fire_event` asks for. */
  readonly event?: string;
  /** Where in the artifact the state's function threw. */
  readonly stack?: readonly StackPosition[];
};

/** Event `event` (host to control): what `event.send` sends. */
export type ModuleEvent = { readonly tag: string; readonly data: Plain };

export type OutputStream = 'stdout' | 'stderr';

/** Event `output` (host to control): what a command of a running state has printed. */
export type OutputPiece = {
  readonly tag: string;
  readonly stream: OutputStream;
  readonly text: string;
  /** Characters before it that are left out. */
  readonly dropped?: number;
};

/** Characters of a state's output that are shown and kept; then only its last line is shown. */
export const mostOfState = 65_536;

/** Characters of that last line. */
export const lastLine = 500;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'critical';
/** Event `log` (host to control). */
export type LogLine = {
  readonly level: LogLevel;
  readonly module: string;
  readonly message: string;
  /** Position in the artifact at which the logged error was thrown. */
  readonly stack?: readonly StackPosition[];
};

/** Requests from the host to control: methods and their parameters. */
export type ControlMethods = {
  /** Shall this state run? Its prediction is that of test mode. Answered by true or false. */
  'state.decide': Prediction;
  /**
   * A `salt://` file. Answered by `FileAnswer`, with content unless the hash is `have`, or
   * nothing but the answer is wanted (`peek`).
   */
  'file.get': { path: string; saltenv: string; have?: string; peek?: boolean };
  /** A `salt://` folder: its files, relative, sorted; with `hashes` each as a `ListedFile`. */
  'file.list': { path: string; saltenv: string; hashes?: boolean };
  /**
   * A template of the job, by the hash of its `renderIdentity`: control has its engine, source and
   * variables. `text` is `contents`, or what only the host can read; `accumulator` is what
   * `file.accumulated` collected. Fails with `template-unknown` when the job has no such template.
   */
  'file.render': {
    key: string;
    text?: string;
    accumulator?: PlainDict;
    /** The sha256 of what the host has: the text is sent only when it differs. */
    have?: string;
    /** Asked before its state runs: a template that asks the host fails then. */
    ahead?: boolean;
  };
  /**
   * A template whose arguments a module of the user or a slot computed on the host. It is
   * rendered as the host's own text: with nothing that the host could not ask for.
   */
  'file.renderComputed': {
    source: string;
    saltenv: string;
    template: string;
    context: PlainDict;
    chunk: PlainDict;
    text?: string;
    have?: string;
  };
  /** A piece of a file that the host sends (`cp.push`): its parts below the host's folder, bytes as base64. */
  'file.push': { path: readonly string[]; offset: number; size: number; data: string };
  /** The host's grains changed while a run goes on. */
  'control.grains': { grains: PlainDict };
  /** A function that lives on the control node (`pillar.get`, `config.get`, `cp.list_master` …). */
  'control.call': { fun: string; args: readonly Plain[]; kwargs: PlainDict };
  /** The steps of an orchestration, which the control node's own runtime asks for. */
  'orchestrate.run': OrchestrationStep;
  'orchestrate.wait': EventWait;
  'orchestrate.nested': NestedOrchestration;
};

/** A file of a folder; a large one is hashed only when it is asked for. */
export type ListedFile = readonly [name: string, size: number, mode: number, sha256: string | null];

export type FileAnswer = {
  readonly found: boolean;
  readonly sha256?: string;
  readonly size?: number;
  readonly mode?: number;
  /** True when the content was not sent: the host has it, or did not want it. */
  readonly same?: boolean;
};
