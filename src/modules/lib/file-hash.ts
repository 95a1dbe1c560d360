import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { SaltInvocationError } from '../api.ts';

const step = 256 * 1024;

/** The algorithms Salt names, with the length of their hexadecimal text. */
export const hashLengths: Readonly<Record<string, number>> = {
  sha512: 128,
  sha384: 96,
  sha256: 64,
  sha224: 56,
  sha1: 40,
  md5: 32,
};

export const hashBytes = (content: Buffer | string, type = 'sha256'): string =>
  createHash(known(type)).update(content).digest('hex');

/** The hash of a file, in bounded memory; a small file costs one read. */
export const hashFile = (path: string, type = 'sha256'): string => {
  const fd = openSync(path, 'r');
  try {
    if (fstatSync(fd).size <= step) return hashBytes(readFileSync(fd), type);
    const hash = createHash(known(type));
    const buffer = Buffer.allocUnsafe(step);
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      hash.update(buffer.subarray(0, count));
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
};

const known = (type: string): string => {
  const name = type.toLowerCase();
  if (!Object.hasOwn(hashLengths, name))
    throw new SaltInvocationError(
      `Invalid hash type: ${type}. Use one of ${Object.keys(hashLengths).join(', ')}`,
    );
  return name;
};
