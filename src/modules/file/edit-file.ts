import { writeAtomic, writeBytes } from '../_shared/files/atomic-write.ts';
import { restoreContext } from '../_shared/files/selinux.ts';
import {
  chownSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  utimesSync,
} from '../_shared/safe-fs/fs.ts';
import { decodeForDiff, isText } from '../_shared/text/text-diff.ts';
import { SaltInvocationError } from '../api.ts';

/** A file's text, and the encoding to write it back in. */
export type EditedText = { readonly text: string; readonly encoding: 'utf8' | 'latin1' };

/** Reads a file as text: as UTF-8, or byte by byte if it is not valid UTF-8. */
export const readText = (path: string): EditedText => asText(readFileSync(path));

/**
 * Reads a file for edits that require it to be text.
 *
 * @throws SaltInvocationError for a binary file
 */
export const readOnlyText = (path: string): EditedText => {
  const bytes = readFileSync(path);
  if (isText(bytes)) return asText(bytes);
  throw new SaltInvocationError(`Cannot perform string replacements on a binary file: ${path}`);
};

const asText = (bytes: Buffer): EditedText => {
  const text = decodeForDiff(bytes);
  return { text, encoding: Buffer.byteLength(text) === bytes.length ? 'utf8' : 'latin1' };
};

/**
 * Writes an edited file: atomically, with its owner and mode; in place where other names (hard
 * links) point to the same file and `preserveInode` holds.
 */
export const writeText = (
  path: string,
  text: string,
  {
    encoding = 'utf8',
    preserveInode = true,
  }: { encoding?: 'utf8' | 'latin1'; preserveInode?: boolean } = {},
): void => {
  const bytes = Buffer.from(text, encoding);
  if (preserveInode && statSync(path).nlink > 1) writeInPlace(path, bytes);
  else writeAtomic(path, bytes);
  restoreContext(path);
};

const writeInPlace = (path: string, bytes: Buffer): void => {
  const fd = openSync(path, 'r+');
  try {
    writeBytes(fd, bytes);
    ftruncateSync(fd, bytes.length);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Copies a file with its mode, times and, as root, its owner. */
export const copyWithAttributes = (from: string, to: string): void => {
  const { uid, gid, atime, mtime } = statSync(from);
  copyFileSync(from, to);
  if (process.geteuid?.() === 0) chownSync(to, uid, gid);
  utimesSync(to, atime, mtime);
};
