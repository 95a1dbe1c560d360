import type { Plain, PlainDict } from './plain.ts';

/** The return value of a state function (spec/state-modules: "Return Data"). */
export type StateReturn = {
  name: string;
  changes: PlainDict;
  /** true = as desired, false = failed, null = test mode and something would change. */
  result: boolean | null;
  comment: string | string[];
  warnings?: string[];
  sub_state_run?: PlainDict[];
  /** Restart the host, then call the function again. See `system.reboot`. */
  restart?: PlainDict;
  [extra: string]: Plain | undefined;
};

/** A state return with the engine's additions. */
export type StateResult = {
  name: Plain;
  changes: PlainDict;
  result: boolean | null;
  comment: string;
  __id__: string;
  __sls__?: string | undefined;
  __run_num__: number;
  /** Local time of day, `HH:MM:SS.micros`. */
  start_time: string;
  /** Milliseconds. */
  duration: number;
  [extra: string]: Plain | undefined;
};

/** Results of one host's state run, by tag, in run order. */
export type StateResults = { [tag: string]: StateResult };
