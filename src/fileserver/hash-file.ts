import { createHash, hash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readFileSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Up to this size, handing a file to another thread takes longer than reading it. */
export const smallFile = 64 * 1024;
export const readAhead = 256 * 1024;

/** One byte more than a small file has. */
let buffer: Buffer | undefined;

export const sha256Of = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex');

/** Returns the hex SHA-256 of a file: of a small one at once. @param size as it was found */
export const sha256OfFile = (path: string, size: number): string | Promise<string> =>
  size <= smallFile ? hashSmall(path, size) : hashLarge(path);

const hashSmall = (path: string, size: number): string => {
  buffer ??= Buffer.allocUnsafeSlow(smallFile + 1);
  const count = readBeginning(path, buffer, 0);
  // It has grown or shrunk meanwhile, or does not come at once.
  return sha256Of(count === size ? buffer.subarray(0, count) : readFileSync(path));
};

/** Reads once, at most one byte more than a small file has. @returns the number of bytes */
export const readBeginning = (path: string, into: Buffer, at: number): number => {
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, into, at, smallFile + 1, 0);
  } finally {
    closeSync(fd);
  }
};

const hashLarge = async (path: string): Promise<string> => {
  const sum = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: readAhead }), sum);
  return sum.digest('hex');
};
