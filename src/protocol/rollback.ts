import { isPlainDict } from './plain.ts';

/** A guarded run: the host rolls back unless the control node logs in again in time. */
export type RollbackParams = {
  /** Identifies the run; chosen by the control node, 16 hexadecimal digits. */
  readonly id: string;
  /** Seconds, counted from the end of the last state. */
  readonly seconds: number;
  /** The accounts that the control node logs in with and becomes. */
  readonly users: readonly string[];
  /** Files and folders to restore in addition to the defaults. */
  readonly paths: readonly string[];
};

/** Request `guard` (control to host), in a login after the run. */
export type RollbackRequest = {
  readonly id: string;
  /** The run was complete: confirm its changes. */
  readonly keep: boolean;
};

/** The response to `guard`. */
export type RollbackResult = {
  /** The changes are confirmed. */
  readonly confirmed: boolean;
  /** The restored items: paths, and phrases such as `the service ssh`. */
  readonly restored: readonly string[];
  /** The items that could not be restored, as sentences. */
  readonly problems: readonly string[];
};

/** Reads a host-supplied response about a guarded run; undefined if it is malformed. */
export const readRollbackResult = (said: unknown): RollbackResult | undefined => {
  if (!isPlainDict(said) || typeof said.confirmed !== 'boolean') return undefined;
  const { confirmed, restored, problems } = said;
  return { confirmed, restored: textsOf(restored), problems: textsOf(problems) };
};

const textsOf = (said: unknown): string[] =>
  Array.isArray(said) ? said.filter(one => typeof one === 'string') : [];
