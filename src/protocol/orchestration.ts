import type { Plain, PlainDict } from './plain.ts';

/** One step of an orchestration: a function that runs on hosts of the roster. */
export type OrchestrationStep = {
  /** The tag and the ID of its state. */
  readonly tag: string;
  readonly id: string;
  /** The target: an expression, or a list of ids. */
  readonly tgt: string | readonly string[];
  /** The target's type as in Salt: `glob`, `list`, `compound` … */
  readonly tgt_type: string;
  readonly fun: string;
  readonly arg: readonly Plain[];
  readonly kwarg: PlainDict;
  /** Hosts at once: a number, or a part such as `25%`. */
  readonly batch?: string;
  /** Run on this many hosts of the target, chosen at random. */
  readonly subset?: number;
  /** Begin no further host after the first that failed. */
  readonly failhard?: boolean;
  /** Time limit for one host, in seconds. */
  readonly timeout?: number;
};

/** The return of a step on one host. */
export type StepReturn = {
  /** The function's return; states by their tags. */
  readonly ret: Plain;
  readonly retcode: number;
  /** The reason why the host returned nothing: it was unreachable, not started … */
  readonly failed?: string;
};

/** The returns of a step by host id, in the order in which the hosts ended. */
export type StepReturns = { readonly [host: string]: StepReturn };

/** Waits for events that hosts of the orchestration send. */
export type EventWait = {
  /** A glob for the tag of the event. */
  readonly tag: string;
  /** The values to wait for; `event_id` is their key in the event's data. */
  readonly ids: readonly Plain[];
  readonly event_id: string;
  /** Seconds. */
  readonly timeout: number;
};

/** The result of a wait. */
export type EventsSeen = {
  /** The values that arrived, in order. */
  readonly seen: readonly Plain[];
  /** Seconds that the wait took. */
  readonly took: number;
  /** Whether some did not arrive in time. */
  readonly isLate: boolean;
};

/** An orchestration within an orchestration. */
export type NestedOrchestration = {
  readonly tag: string;
  readonly fun: string;
  readonly kwarg: PlainDict;
};
