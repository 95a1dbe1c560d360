import { dirname } from 'node:path';
import { existsSync, mkdirSync } from '../safe-fs/fs.ts';
import { writeAtomic } from './atomic-write.ts';

/**
 * Replaces a configuration file of the system atomically, making its folder. A file that is there
 * keeps its mode and owner; a new one gets `mode`.
 */
export const replaceFile = async (
  path: string,
  content: string | Uint8Array,
  mode = 0o644,
): Promise<void> => {
  mkdirSync(dirname(path), { recursive: true });
  writeAtomic(
    path,
    typeof content === 'string' ? content : Buffer.from(content),
    existsSync(path) ? {} : { mode },
  );
};
