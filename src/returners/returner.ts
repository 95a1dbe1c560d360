import type { RunEvent } from '../protocol/event.ts';
import type { Plain } from '../protocol/plain.ts';

/** The return of one host, as Salt's returners have it. */
export type SaltReturn = {
  readonly jid: string;
  readonly id: string;
  readonly fun: string;
  readonly fun_args: readonly Plain[];
  readonly return: Plain;
  readonly retcode: number;
  readonly success: boolean;
  /** The time in ISO 8601. */
  readonly _stamp: string;
};

/** The job that returns belong to, as Salt's `save_load` has it. */
export type JobLoad = {
  readonly jid: string;
  readonly fun: string;
  readonly arg: readonly Plain[];
  readonly tgt: string;
  readonly tgt_type: string;
  readonly user: string;
};

/** A place for the returns of runs. */
export type Returner = {
  readonly name: string;
  /**
   * Writes returns; those of a run come in order. Failures are reported, and do not end the run.
   *
   * @param signal - is aborted when it takes too long: what still waits would delay the end of the process
   */
  readonly write?: (
    returns: readonly SaltReturn[],
    load: JobLoad,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Receives all events of a run. */
  readonly follow?: (event: RunEvent) => void;
  readonly begin?: (load: JobLoad) => Promise<void>;
  readonly end?: () => Promise<void>;
};
