import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeSync,
} from '../safe-fs/fs.ts';

const present = new Set<string>();
let isWatching = false;
let record: ((path: string) => void) | undefined;

/**
 * Keeps the paths of temporary files in a file, so that the next run can remove those of a killed
 * one (`takeLock`). Once it is long, it is emptied when a path comes and no other is present. A run whose
 * record cannot be written works all the same.
 *
 * @returns a function that ends the record and removes the file
 */
export const recordTemporary = (path: string): (() => void) => {
  let file: number | undefined;
  let end = 0;
  record = temporary => {
    try {
      file ??= openSync(path, 'w', 0o600);
      if (present.size === 0 && end > longEnough) {
        ftruncateSync(file);
        end = 0;
      }
      end += writeSync(file, `${JSON.stringify(temporary)}\n`, end);
    } catch {
      // The disk is full, say. What writes the file itself reports that.
    }
  };
  return () => {
    record = undefined;
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

/** Names of `openTemp`, some with an extension, and of `makeTempFolder`. */
const ourName = /^\..*\.[0-9a-f]{18}\.tmp|^\.?tsalt-(?:[a-z]+-)?\w{6}$/;

/** Removes the temporary files in the record of a process that was killed. */
export const removeRecorded = (path: string): void => {
  for (const line of readLines(path)) {
    const temporary = readLine(line);
    if (typeof temporary !== 'string' || !isAbsolute(temporary)) continue;
    if (ourName.test(basename(temporary))) remove(temporary);
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
