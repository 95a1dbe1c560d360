import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { Script } from 'node:vm';
import { withFirstFlags } from '../memory/v8-flags.ts';
import { type ArtifactHead, firstLineLength, headOf } from '../protocol/artifact-head.ts';

/** What the loader passes to the artifact (`loader/main.ts`). */
declare const TS: {
  readonly sha: string;
  /** The artifact's file, and that of V8's code cache, if they are kept. */
  readonly file?: string | false;
  readonly cacheFile?: string | false;
  readonly wipe?: boolean;
  /** The artifact, if it came in this run. */
  readonly bytes?: Buffer;
};

/**
 * Compiles a block of the artifact.
 *
 * @param at - its first byte, behind the head
 * @param line - its first line, behind the head
 * @returns what its code is: a function
 */
export const loadBlock = (at: number, size: number, line: number): unknown => {
  head ??= headOf(partOf(0, firstLineLength).toString('latin1')) ?? { bytes: 0, lines: 0 };
  const cacheFile = !TS.wipe && TS.cacheFile && `${TS.cacheFile}.${at}`;
  const cachedData = cacheFile ? readCode(cacheFile) : undefined;
  const options = {
    filename: TS.file || `${TS.sha}.js`,
    lineOffset: head.lines + line,
    ...(cachedData ? { cachedData } : {}),
  };
  const text = partOf(head.bytes + at, size).toString('latin1');
  const script = withFirstFlags(() => new Script(text, options));
  if (cacheFile && (!cachedData || script.cachedDataRejected))
    process.on('exit', () => keepCode(cacheFile, script));
  return script.runInThisContext();
};

let head: ArtifactHead | undefined;

const partOf = (from: number, size: number): Buffer => {
  if (TS.bytes) return TS.bytes.subarray(from, from + size);
  return openedOwn(TS.file || '', fd => readAt(fd, from, size));
};

/**
 * Returns the code of a block. It needs no hash: a file appears with all of its content, which is on
 * the disk by then.
 */
const readCode = (file: string): Buffer | undefined => {
  try {
    return openedOwn(file, (fd, { size, mtimeMs }) => {
      // Artifacts that were not used for a month are removed.
      if (Date.now() - mtimeMs > 24 * 3_600_000) futimesSync(fd, new Date(), new Date());
      return readAt(fd, 0, size);
    });
  } catch {
    return undefined;
  }
};

/** Opens a file of this user's workspace. @throws if it is not theirs alone */
const openedOwn = <T>(
  file: string,
  use: (fd: number, stat: { readonly size: number; readonly mtimeMs: number }) => T,
): T => {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.uid !== process.geteuid?.() || stat.mode & 0o022)
      throw new Error(`${file} is not a file of this user alone.`);
    return use(fd, stat);
  } finally {
    closeSync(fd);
  }
};

const readAt = (fd: number, from: number, size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size);
  let got = 0;
  while (got < size) {
    const count = readSync(fd, bytes, got, size - got, from + got);
    if (count === 0) break;
    got += count;
  }
  return bytes.subarray(0, got);
};

/** Keeps the code of a block, with the functions that this run called, for later runs. */
const keepCode = (file: string, script: Script): void => {
  const temporary = `${file}.${process.pid}.new`;
  try {
    const bytes = withFirstFlags(() => script.createCachedData());
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch {
    try {
      unlinkSync(temporary);
    } catch {}
  }
};
