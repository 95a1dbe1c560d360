import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  unlinkSync,
  writeSync,
} from '../safe-fs/fs.ts';

/** A line of the record: a path, or a folder and the mark of the files in it. */
type Recorded = string | readonly [folder: string, mark: string];

const present = new Set<string>();
let isWatching = false;
let record: ((temporary: Recorded) => void) | undefined;
/** Folders whose line is in the record. */
const recorded = new Set<string>();

/**
 * Keeps the paths of temporary files in a file, so that the next run can remove those of a killed
 * one (`takeLock`). Files of `temporaryName` need a line for each folder only. Once the record is long,
 * it is emptied when a path comes and no other is present. A run whose record cannot be written works
 * all the same.
 *
 * @returns a function that ends the record and removes the file
 */
export const recordTemporary = (path: string): (() => void) => {
  let file: number | undefined;
  let end = 0;
  record = temporary => {
    const folder = typeof temporary === 'string' ? undefined : temporary[0];
    if (folder !== undefined && recorded.has(folder)) return;
    try {
      file ??= openSync(path, 'w', 0o600);
      if (present.size === 0 && end > longEnough) {
        ftruncateSync(file);
        recorded.clear();
        end = 0;
      }
      end += writeSync(file, `${JSON.stringify(temporary)}\n`, end);
      if (folder !== undefined) recorded.add(folder);
    } catch {
      // The disk is full, say. What writes the file itself reports that.
    }
  };
  return () => {
    record = undefined;
    recorded.clear();
    if (file === undefined) return;
    closeSync(file);
    try {
      unlinkSync(path);
    } catch {
      // Removed already.
    }
  };
};

/** Bytes up to which the record also has paths that are gone: emptying it takes a system call. */
const longEnough = 32 * 1024;

/** Names of `temporaryName`, some with an extension, and of `makeTempFolder`. */
const ourName = /^\..*\.([0-9a-f]{18})\.tmp|^\.?tsalt-(?:[a-z]+-)?\w{6}$/;

/** Hexadecimal digits that all names of this process begin with. */
const markLength = 8;
let mark: string | undefined;

/** A name that nobody can guess. */
export const temporaryName = (near: string): string => {
  mark ??= randomDigits(markLength);
  return `.${near.slice(0, 64)}.${mark}${randomDigits(18 - markLength)}.tmp`;
};

/** Random hexadecimal digits that were drawn and not used yet: to draw them for many names is faster. */
let drawn = '';
let used = 0;

const randomDigits = (count: number): string => {
  if (used + count > drawn.length) {
    drawn = (fromKernel(1024) ?? randomBytes(1024)).toString('hex');
    used = 0;
  }
  used += count;
  return drawn.slice(used - count, used);
};

/** Reads random bytes. Node's `crypto` draws from the same source, and takes 5 ms to load. */
const fromKernel = (count: number): Buffer | undefined => {
  let fd: number | undefined;
  try {
    fd = openSync('/dev/urandom', constants.O_RDONLY | constants.O_NOFOLLOW);
    if (!fstatSync(fd).isCharacterDevice()) return undefined;
    const bytes = Buffer.alloc(count);
    return readSync(fd, bytes) === count ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

/** Removes the temporary files in the record of a process that was killed. */
export const removeRecorded = (path: string): void => {
  for (const line of readLines(path)) {
    for (const temporary of pathsOf(readLine(line)))
      if (isAbsolute(temporary) && ourName.test(basename(temporary))) remove(temporary);
  }
};

/** The paths that a line of the record is about. */
const pathsOf = (line: unknown): readonly string[] => {
  if (typeof line === 'string') return [line];
  if (!Array.isArray(line)) return [];
  const [folder, ofRun] = line as unknown[];
  if (typeof folder !== 'string' || typeof ofRun !== 'string') return [];
  if (ofRun.length !== markLength) return [];
  return namesIn(folder)
    .filter(name => ourName.exec(name)?.[1]?.startsWith(ofRun))
    .map(name => join(folder, name));
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it is gone, with all that was in it
  }
};

const readLines = (path: string): readonly string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return []; // another run was faster
  }
};

const readLine = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // it was cut off
  }
};

/** Removes a path when the process exits, so that an aborted run leaves nothing behind. */
export const removeAtExit = (path: string): void => {
  record?.(path);
  removeLater(path);
};

/** As `removeAtExit`, for a file whose name is of `temporaryName`. */
export const removeNamedAtExit = (folder: string, path: string): void => {
  record?.([folder, mark ?? '']);
  removeLater(path);
};

const removeLater = (path: string): void => {
  present.add(path);
  if (isWatching) return;
  isWatching = true;
  process.on('exit', () => {
    for (const left of present) remove(left);
  });
};

/** The path has gone, or is temporary no more. */
export const keepAtExit = (path: string): void => {
  present.delete(path);
};

/** A new folder that only we can enter. It goes with `removeTemp`, at the latest with the process. */
export const makeTempFolder = (prefix: string): string => {
  const path = mkdtempSync(join(tmpdir(), prefix));
  removeAtExit(path);
  return path;
};

export const removeTemp = (path: string): void => {
  remove(path);
  keepAtExit(path);
};

const remove = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A path that cannot be removed was taken over by another process.
  }
};
