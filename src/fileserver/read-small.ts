import { readFileSync, statSync } from 'node:fs';
import { readBeginning, smallFile } from './hash-file.ts';

/**
 * Reads a small file into the caller's memory, which has `smallFile` bytes and one more from `at`
 * on.
 *
 * @param size in bytes, when the file was found: only a file of another size is looked at again
 * @returns the number of its bytes now; undefined if it is no longer small
 * @throws Error it cannot be read
 */
export const readSmall = (
  path: string,
  size: number,
  into: Buffer,
  at: number,
): number | undefined => {
  const count = readBeginning(path, into, at);
  if (count === size) return count;
  // It has changed meanwhile, or does not come at once.
  if (statSync(path).size > smallFile) return undefined;
  const bytes = readFileSync(path);
  if (bytes.length > smallFile) return undefined;
  into.set(bytes, at);
  return bytes.length;
};
