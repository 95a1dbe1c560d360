import { homedir } from 'node:os';
import { join } from 'node:path';
import { __opts__ } from '../api.ts';

/** Where this host keeps backups and cached downloads: `cachedir`, else below the user's cache. */
export const cacheDir = (...parts: string[]): string => {
  const configured: unknown = __opts__.cachedir;
  const root =
    typeof configured === 'string' && configured.startsWith('/')
      ? configured
      : join(homedir(), '.cache', 'tsalt-ssh', 'minion');
  return join(root, ...parts);
};
