// Loaded at the first hash: a small run may need none.
import * as crypto from 'node:crypto';
import { SaltInvocationError } from '../../api.ts';
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from '../safe-fs/fs.ts';
import { open } from '../safe-fs/promises.ts';

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
  // At once where node can: without the stream that a `Hash` is. Node 18 and 20.11 cannot.
  crypto.hash === undefined
    ? crypto.createHash(known(type)).update(content).digest('hex')
    : crypto.hash(known(type), content, 'hex');

/** The hash of a file, in bounded memory; a small file costs one read. */
export const hashFile = (path: string, type = 'sha256'): string => {
  const fd = openSync(path, 'r');
  try {
    if (fstatSync(fd).size <= step) return hashBytes(readFileSync(fd), type);
    const hash = crypto.createHash(known(type));
    const buffer = Buffer.allocUnsafe(step);
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      hash.update(buffer.subarray(0, count));
    return hash.digest('hex');
  } finally {
    closeSync(fd);
  }
};

/**
 * The hash of a file that may be large: other work goes on meanwhile, such as answering the
 * control node, which would think that the host is gone. A large file that stays as it is is
 * read once in a run.
 */
export const hashOf = async (path: string, type = 'sha256'): Promise<string> => {
  const stat = statSync(path, { bigint: true });
  if (stat.size <= largest) return hashFile(path, type);
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  const key = [type, dev, ino, size, mtimeNs, ctimeNs].join(' ');
  const hash = hashed.get(key) ?? hashInParts(path, type);
  hashed.set(key, hash);
  hash.catch(() => hashed.delete(key));
  return hash;
};

const largest = 4 * 1024 * 1024;
const hashed = new Map<string, Promise<string>>();

const hashInParts = async (path: string, type: string): Promise<string> => {
  const hash = crypto.createHash(known(type));
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(4 * step);
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
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
