import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { smallFile } from './hash-file.ts';

/**
 * Reads a small file into the caller's memory, which has `smallFile` bytes and one more from `at`
 * on.
 *
 * @param size of the file as it was found: one that has not changed is not looked at again
 * @returns the number of its bytes now; undefined if it is no longer small
 * @throws Error it cannot be read
 */
export const readSmall = (
  path: string,
  size: number,
  into: Buffer,
  at: number,
): number | undefined => {
  const count = readOnce(path, into, at);
  if (count === size) return count;
  // It has changed meanwhile, or does not come at once.
  if (statSync(path).size > smallFile) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length > smallFile) return undefined;
  into.set(bytes, at);
  return bytes.length;
};

const readOnce = (path: string, into: Buffer, at: number): number => {
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, into, at, smallFile + 1, 0);
  } finally {
    closeSync(fd);
  }
};
