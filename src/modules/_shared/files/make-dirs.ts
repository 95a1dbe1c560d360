import { dirname } from 'node:path';
import { SaltInvocationError } from '../../api.ts';
import { mkdirSync } from '../safe-fs/fs.ts';
import { applyPerms, type DesiredPerms } from './check-perms.ts';
import { isDir } from './file-paths.ts';

/** Makes a directory unless another process has made it meanwhile; returns whether it is new. */
const makeDir = (dir: string): boolean => {
  try {
    mkdirSync(dir);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isDir(dir)) return false;
    throw error;
  }
};

/** Makes a directory and what is missing above it; each new one gets owner, group and mode. */
export const makeDirs = (path: string, wanted: DesiredPerms = {}): void => {
  const missing: string[] = [];
  for (let dir = path; !isDir(dir); dir = dirname(dir)) {
    missing.unshift(dir);
    if (dirname(dir) === dir)
      throw new SaltInvocationError(
        `Recursive creation for path '${path}' would result in an infinite loop. Please use an absolute path.`,
      );
  }
  for (const dir of missing) {
    if (makeDir(dir)) applyPerms(dir, wanted);
  }
};
