import { fstatSync } from 'node:fs';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { textPieces } from '../protocol/text-pieces.ts';
import { writeAll } from './write-all.ts';

/** The first error of standard output. After it, nothing more is written. */
let failure: NodeJS.ErrnoException | undefined;

const onError = (error: NodeJS.ErrnoException): void => {
  failure ??= error;
};

/** Keeps errors of standard output and standard error from ending the process. */
export const watchStandardOutput = (): void => {
  process.stdout.on('error', onError);
  process.stderr.on('error', () => undefined);
};

/**
 * Writes to standard output. An error is kept for the end (`standardOutputError`), so that hosts
 * are not cut off because their results cannot be shown.
 */
export const print = (text: string): void => {
  if (failure !== undefined) return;
  // If a nearly full disk accepts only a part of a text, Node's stream drops the rest.
  if (!isFile()) for (const piece of textPieces(text)) process.stdout.write(piece);
  else
    try {
      writeAll(process.stdout.fd, text);
    } catch (error) {
      onError(error as NodeJS.ErrnoException);
    }
};

let isFileKnown: boolean | undefined;

const isFile = (): boolean => {
  isFileKnown ??= statsAsFile();
  return isFileKnown;
};

const statsAsFile = (): boolean => {
  if (process.stdout.isTTY === true) return false;
  try {
    const stats = fstatSync(process.stdout.fd);
    return stats.isFile() || stats.isCharacterDevice();
  } catch {
    return false;
  }
};

/**
 * Waits until standard output is written, and returns its error, if any. A reader that has closed
 * the pipe (`… | head`) is not an error.
 */
export const standardOutputError = async (): Promise<TsaltError | undefined> => {
  if (failure === undefined && !isFile())
    await new Promise<void>(resolve => {
      process.stdout.write('', () => resolve());
    });
  if (failure === undefined || failure.code === 'EPIPE') return undefined;
  return new TsaltError('out-file', `The output cannot be written: ${messageOf(failure)}.`, {
    cause: failure,
  });
};
