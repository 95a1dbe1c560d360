import type { LowChunk } from './low.ts';
import type { NamedFile } from './many-files.ts';
import type { EventWait, NestedOrchestration, OrchestrationStep } from './orchestration.ts';
import type { Plain, PlainDict } from './plain.ts';
import type { Prediction } from './plan.ts';
import type { StateResult, StateResults } from './result.ts';
import type { RollbackParams } from './rollback.ts';
import type { StackPosition } from './stack.ts';

export const protocolVersion = 1;

/** The first message of the runtime after the marker, as event `hello`. */
export type Hello = {
  readonly protocol: number;
  readonly node: string;
  readonly pid: number;
  /** The account that the runtime works as; comes with grains. */
  readonly user?: string;
  /** Null where the control node said that they can wait: request `grains` asks for them. */
  readonly grains: PlainDict | null;
  /**
   * Sent by the program that only collects grains: a grains module called a function that only the
   * artifact has, so grains are missing.
   */
  readonly isPartial?: boolean;
};

/** Options sent with every job: the host's minion opts and, if a module needs it, its pillar. */
export type HostOpts = PlainDict & { id: string; test: boolean; saltenv: string };

/** Request `call`: one execution function. */
export type CallParams = {
  readonly fun: string;
  readonly args: readonly Plain[];
  readonly kwargs: PlainDict;
  readonly opts: HostOpts;
  readonly pillar?: PlainDict;
  /** The function reads no grains, so it does not wait for them. */
  readonly needsNoGrains?: true;
  /** Nothing follows: if it has its result at once, the runtime ends after it. */
  readonly isLast?: true;
};

export type CallResult = {
  readonly value: Plain;
  /** `__context__.retcode` after the call, 0 when unset. */
  readonly retcode: number;
};

/** Request `names`: the functions of this host, without those that its modules removed. */
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
  /** The function that the user called, shown to others that wait for the lock. */
  readonly fun?: string;
  /**
   * Wait for a run that holds the host's lock instead of refusing; a number limits how many may
   * wait.
   */
  readonly queue?: boolean | number;
  /** The job's id. Its runs on one host, which may have several names, run one after the other. */
  readonly job?: string;
  /** Run in parallel with a run that holds the lock. */
  readonly concurrent?: boolean;
  /** Continues a run that a restart of the host interrupted. */
  readonly resume?: Resume;
  /** Roll back changes that lock the control node out; see `RollbackParams`. */
  readonly guard?: RollbackParams;
  /**
   * Results of states that an earlier run of the same chunks has finished: they are not repeated.
   */
  readonly results?: StateResults;
  /** Ask control before each state that would change something (`state.decide`). */
  readonly step?: boolean;
  /** Data that control fetched ahead (`protocol/prefetch.ts`): `__context__.__prefetch__` in modules. */
  readonly prefetch?: unknown;
  /** Rendered templates of the chunks from `covered` on follow as events (`RenderedPiece`). */
  readonly rendering?: { readonly run: number; readonly covered: number };
  /** The functions of its states read no grains, except through functions that they call. */
  readonly needsNoGrains?: true;
  /** As for `call`; a run that waits for a restart of the host goes on. */
  readonly isLast?: true;
};

/**
 * `aborted`: the run was stopped before its last state. An invalid job, or a host locked by another
 * run (`run-conflict`), fails the request.
 */
export type RunResult = {
  readonly retcode: number;
  readonly aborted?: string;
  /** The run waits for a restart of the host and is to be resumed afterwards. */
  readonly restart?: Restart;
};

/** A state requests a restart of the host, after which the run resumes with that state. */
export type Restart = {
  /** The state's tag. */
  readonly tag: string;
  /** The kernel's id of the current boot. */
  readonly boot: string;
  /** Minutes of warning for people on the host. */
  readonly delay: number;
  readonly message?: string;
  /** Seconds that the host may take to come back. */
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
  /** Why the host was not restarted. */
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
  /** The tag of the event that `fire_event` of the state requests. */
  readonly event?: string;
  /** Position in the artifact at which the state's function threw. */
  readonly stack?: readonly StackPosition[];
};

/** Event `state` (host to control), of a state whose start was not sent: its id, function, name. */
export type StateBegun = { readonly began?: readonly [id: string, fun: string, name: Plain] };

/** Event `event` (host to control): sent by `event.send`. */
export type ModuleEvent = { readonly tag: string; readonly data: Plain };

export type OutputStream = 'stdout' | 'stderr';

/** Event `output` (host to control): output of a command of a running state. */
export type OutputPiece = {
  readonly tag: string;
  readonly stream: OutputStream;
  readonly text: string;
  /** Number of characters before it that were dropped. */
  readonly dropped?: number;
};

/**
 * Characters of a state's output that are shown and kept; of the rest only the last line is shown.
 */
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
  /**
   * Whether to run this state. Its prediction is that of test mode. The response is true or false.
   */
  'state.decide': Prediction;
  /**
   * A `salt://` file. The response is a `FileResponse`, with content unless the hash equals `have` or
   * only the answer is requested (`peek`).
   */
  'file.get': { path: string; saltenv: string; have?: string; peek?: boolean };
  /**
   * Several small files and templates at once; the response is null, with content (see
   * `protocol/many-files.ts`).
   */
  'file.getMany': { items: readonly NamedFile[] };
  /**
   * A `salt://` folder: its files, relative and sorted; with `hashes` each as a `ListedFile`, in the
   * content (see `protocol/listed-pieces.ts`).
   */
  'file.list': { path: string; saltenv: string; hashes?: boolean };
  /**
   * A template of the job, by the hash of its `renderIdentity`: the control node has its engine,
   * source and variables. `text` is `contents`, or a text that only the host can read;
   * `accumulator` is the data of `file.accumulated`. Fails with `template-unknown` if the job has
   * no such template.
   */
  'file.render': {
    key: string;
    text?: string;
    accumulator?: PlainDict;
    /** The sha256 of the host's current text: the text is sent only if it differs. */
    have?: string;
    /** Requested before its state runs: a template that calls the host fails then. */
    ahead?: boolean;
  };
  /**
   * A template whose arguments were computed on the host, by a user's module or a slot. It is
   * rendered as a host-supplied text, with access to nothing that the host could not request.
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
  /**
   * A piece of a file that the host sends (`cp.push`): path segments below the host's folder, bytes
   * as base64.
   */
  'file.push': { path: readonly string[]; offset: number; size: number; data: string };
  /** The host's grains changed during a run. */
  'control.grains': { grains: PlainDict };
  /** A function of the control node (`pillar.get`, `config.get`, `cp.list_master` …). */
  'control.call': { fun: string; args: readonly Plain[]; kwargs: PlainDict };
  /** The steps of an orchestration; only the control node's own runtime may request them. */
  'orchestrate.run': OrchestrationStep;
  'orchestrate.wait': EventWait;
  'orchestrate.nested': NestedOrchestration;
};

/** A file of a folder; a large one is hashed only on request. */
export type ListedFile = readonly [name: string, size: number, mode: number, sha256: string | null];

export type FileResponse = {
  readonly found: boolean;
  readonly sha256?: string;
  readonly size?: number;
  readonly mode?: number;
  /** True if the content was not sent, because the host has it or did not request it. */
  readonly same?: boolean;
};
