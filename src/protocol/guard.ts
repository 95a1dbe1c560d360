import { isPlainDict } from './plain.ts';

/** A guarded run: the host takes back what cuts it off unless control logs in anew in time. */
export type GuardParams = {
  /** Names the run; chosen by control, 16 hexadecimal digits. */
  readonly id: string;
  /** Seconds from the last state's end on. */
  readonly seconds: number;
  /** The accounts that control logs in by and becomes. */
  readonly users: readonly string[];
  /** Files and folders to put back besides the usual ones. */
  readonly paths: readonly string[];
};

/** Request `guard` (control to host), on a login made after the run. */
export type GuardEnd = {
  readonly id: string;
  /** The run came to its end: what it changed shall stay. */
  readonly keep: boolean;
};

/** The answer to it. */
export type GuardAnswer = {
  /** The host keeps what the run did. */
  readonly confirmed: boolean;
  /** What was put back: paths, and words such as `the service ssh`. */
  readonly restored: readonly string[];
  /** What could not be put back, in sentences. */
  readonly problems: readonly string[];
};

/** What a host or a file says of a guarded run; undefined for anything else. */
export const readGuardAnswer = (said: unknown): GuardAnswer | undefined => {
  if (!isPlainDict(said) || typeof said.confirmed !== 'boolean') return undefined;
  const { confirmed, restored, problems } = said;
  return { confirmed, restored: textsOf(restored), problems: textsOf(problems) };
};

const textsOf = (said: unknown): string[] =>
  Array.isArray(said) ? said.filter(one => typeof one === 'string') : [];
