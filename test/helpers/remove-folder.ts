import { rmSync } from 'node:fs';

/**
 * Removes a folder with all that is in it, even while a program that was just told to end writes its
 * last files there: `maxRetries` of `rmSync` tries the folder again, but not what came into it.
 */
export const removeFolder = (path: string): void => {
  for (let left = 40; ; left -= 1)
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
};
