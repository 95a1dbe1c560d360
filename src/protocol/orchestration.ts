import type { Plain, PlainDict } from './plain.ts';

/** One step of an orchestration: a function that runs on hosts of the roster. */
export type OrchestrationStep = {
  /** The tag and the ID of its state. */
  readonly tag: string;
  readonly id: string;
  /** The target: an expression, or a list of ids. */
  readonly tgt: string | readonly string[];
  /** The target's type in Salt's words: `glob`, `list`, `compound` … */
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
  /** Seconds that one host may take. */
  readonly timeout?: number;
};

/** The return of a step on one host. */
export type StepReturn = {
  /** The function's return; states by their tags. */
  readonly ret: Plain;
  readonly retcode: number;
  /** The reason why the host returned nothing: it could not be reached, was not started … */
  readonly failed?: string;
};

/** The returns of a step by host id, in the order in which the hosts ended. */
export type StepReturns = { readonly [host: string]: StepReturn };

/** Waits for events that hosts of the orchestration send. */
export type EventWait = {
  /** A glob that the tag of the event matches. */
  readonly tag: string;
  /** The values that are waited for, and the key of the event's data where each is. */
  readonly ids: readonly Plain[];
  readonly event_id: string;
  /** Seconds. */
  readonly timeout: number;
};

/** The result of a wait. */
export type EventsSeen = {
  /** The values that came, in their order. */
  readonly seen: readonly Plain[];
  /** Seconds that the wait took. */
  readonly took: number;
  /** Not all came in time. */
  readonly isLate: boolean;
};

/** An orchestration within an orchestration. */
export type NestedOrchestration = {
  readonly tag: string;
  readonly fun: string;
  readonly kwarg: PlainDict;
};
