import { closeSync, constants, fchmodSync, fstatSync } from 'node:fs';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { openTrusted } from '../trust/check.ts';
import { writeAll } from './write-all.ts';

/** A writer, and its first error. */
export type CheckedWriter = {
  readonly write: (text: string) => void;
  readonly error: () => Promise<TsaltError | undefined>;
};

/**
 * Returns a writer that keeps its first error for the end: hosts must not be cut off because their
 * results cannot be shown.
 */
export const firstError = (write: (text: string) => void): CheckedWriter => {
  let first: TsaltError | undefined;
  return {
    error: () => Promise.resolve(first),
    write: text => {
      if (first !== undefined) return;
      try {
        write(text);
      } catch (error) {
        if (!(error instanceof TsaltError)) throw error;
        first = error;
      }
    },
  };
};

/**
 * Opens a private file for a writer.
 *
 * @throws TsaltError `out-file` or `report`, `untrusted`; so does the writer
 */
export const fileWriter = (
  path: string,
  append: boolean,
  what: 'output' | 'log' | 'report',
): ((text: string) => void) => {
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof TsaltError && what !== 'report') throw cause;
      if (what === 'report') throw reportError(path, cause);
      const reason = messageOf(cause);
      throw new TsaltError('out-file', `The ${what} file ${path} cannot be written: ${reason}.`, {
        cause,
      });
    }
  };
  const flags = O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC);
  const handle = guarded(() => openTrusted(path, flags, `The ${what} file`));
  // An earlier report may have been made readable for others; this one has different contents.
  if (what === 'report' && fstatSync(handle).isFile()) guarded(() => fchmodSync(handle, 0o600));
  process.once('exit', () => closeSync(handle));
  return text => guarded(() => writeAll(handle, text));
};

/** Returns the error of a report that cannot be written, which has an exit code of its own. */
export const reportError = (path: string, cause: unknown): TsaltError =>
  cause instanceof TsaltError
    ? new TsaltError('report', cause.message, { at: cause.at, hint: cause.hint, cause })
    : new TsaltError('report', `The report ${path} cannot be written: ${messageOf(cause)}.`, {
        cause,
      });
