import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { Script } from 'node:vm';
import { withFirstFlags } from '../memory/v8-flags.ts';
import {
  type ArtifactHead,
  type ArtifactStart,
  firstLineLength,
  headOf,
} from '../protocol/artifact-head.ts';

declare const TS: ArtifactStart;

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
  if (cacheFile && (!cachedData || script.cachedDataRejected)) {
    if (compiled.size === 0) process.on('exit', keepAll);
    compiled.set(cacheFile, script);
  }
  return script.runInThisContext();
};

let head: ArtifactHead | undefined;

/** The blocks whose code is kept at the end, by the files for it. */
const compiled = new Map<string, Script>();

const partOf = (from: number, size: number): Buffer =>
  TS.bytes ? TS.bytes.subarray(from, from + size) : readAt(TS.opened ?? -1, from, size);

/**
 * Returns the code of a block. It needs no hash: a file appears with all of its content, which is on
 * the disk by then.
 */
const readCode = (file: string): Buffer | undefined => {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.uid !== process.geteuid?.() || stat.mode & 0o022) return undefined;
    // Artifacts that were not used for a month are removed.
    if (Date.now() - stat.mtimeMs > 24 * 3_600_000) futimesSync(fd, new Date(), new Date());
    return readFileSync(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
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

const keepAll = (): void => {
  for (const [file, script] of compiled) keepCode(file, script);
};

/** Keeps the code of a block, with the functions that this run called, for later runs. */
const keepCode = (file: string, script: Script): void => {
  const temporary = `${file}.${process.pid}.new`;
  try {
    const bytes = withFirstFlags(() => script.createCachedData());
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(fd, bytes);
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
