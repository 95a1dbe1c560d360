import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mkdtempSync, rmSync } from './safe-fs/fs.ts';

const present = new Set<string>();
let isWatching = false;

/** Has a path removed with the process: a run that breaks gives nobody the time to tidy up. */
export const removeAtExit = (path: string): void => {
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
    // What cannot be removed was taken over by somebody else.
  }
};
