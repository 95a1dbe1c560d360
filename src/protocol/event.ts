import type { ErrorKind, SourceLocation } from './error.ts';
import type { LogLevel, ModuleEvent, OutputPiece, StateFinished, StateStarted } from './job.ts';
import type { Plain } from './plain.ts';
import type { PlannedJob, StepTargets } from './plan.ts';
import type { StateResults } from './result.ts';

/** The reason why a host returned no result. */
export type HostFailure = {
  readonly kind: ErrorKind;
  readonly code: string;
  /** The whole text for the user: sentence, place, excerpt, hint. */
  readonly message: string;
};

/** One error in the user's files: the text that `value` contains too, and its location. */
export type Fault = {
  readonly message: string;
  /** Our message, if it differs from Salt's. */
  readonly sentence?: string | undefined;
  readonly at?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  readonly excerpt?: string | undefined;
};

/** The result of one host's run. A failing host is a value, never a throw. */
export type HostResult = {
  readonly id: string;
  readonly fun: string;
  /** State run: results by tag in run order. */
  readonly states?: StateResults;
  /** The number of states that `--only` and similar options left out. */
  readonly leftOut?: number;
  /** Any other function: its return. Also the list of errors of a state run that did not compile. */
  readonly value?: Plain;
  readonly retcode: number;
  /** The errors behind a compile error or an empty highstate, for people. */
  readonly problems?: readonly Fault[];
  readonly failure?: HostFailure;
  /** The outputter that the function requests. */
  readonly outputter?: string;
};

/** States of a plan by their tags, and the requisites between them. */
export type RequisiteGraph = {
  readonly tags: readonly string[];
  /** Indexes into `tags`: the state that requires, the required state, and the kind. */
  readonly edges: readonly (readonly [from: number, to: number, kind: string])[];
};

/** Everything that the core reports while it works; only `output` prints. */
export type RunEvent =
  | { readonly type: 'start'; readonly hosts: readonly string[]; readonly fun: string }
  | {
      readonly type: 'phase';
      readonly host: string;
      readonly phase: Phase;
      readonly detail?: string;
    }
  | {
      readonly type: 'plan';
      readonly host: string;
      readonly total: number;
      /** Finds the requisites between the states; JSON leaves it out. */
      readonly requisites?: () => RequisiteGraph;
      /** The compiled run, if the run makes a plan; omitted from JSON. */
      readonly job?: () => PlannedJob;
    }
  | ({ readonly type: 'state-start'; readonly host: string } & StateStarted)
  | ({ readonly type: 'state'; readonly host: string } & StateFinished)
  /** Output of a running state. */
  | ({ readonly type: 'output'; readonly host: string } & OutputPiece)
  | {
      readonly type: 'log';
      readonly host?: string;
      readonly level: LogLevel;
      readonly module: string;
      readonly message: string;
      /** Positions in sources, innermost first, from the control node. */
      readonly trace?: readonly string[];
    }
  /** A module has sent an event (`event.send`). */
  | ({ readonly type: 'event'; readonly host: string } & ModuleEvent)
  /** An event of a host that works on a step of an orchestration. */
  | {
      readonly type: 'step';
      readonly step: string;
      /** The tag of the step's state; absent while steps are checked, and inside of nested orchestrations. */
      readonly tag?: string;
      readonly event: RunEvent;
    }
  /** The hosts of a step, where the run makes a plan. */
  | ({ readonly type: 'step-targets' } & StepTargets)
  | { readonly type: 'host'; readonly result: HostResult }
  /** Hosts that were not started: too many had failed, or the batches stopped. */
  | { readonly type: 'not-started'; readonly hosts: readonly string[]; readonly reason: string }
  | { readonly type: 'end' };

export type Phase =
  | 'queued'
  | 'connect'
  | 'auth'
  | 'pre-flight'
  | 'bootstrap'
  | 'upload-node'
  | 'upload'
  | 'hello'
  | 'render'
  | 'run'
  | 'done';
