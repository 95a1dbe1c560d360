import { homedir } from 'node:os';
import { join } from 'node:path';
import { __opts__ } from '../../api.ts';
import { parseSource } from '../sources/source-url.ts';

/** Where this host keeps backups and cached downloads: `cachedir`, else below the user's cache. */
export const cacheDir = (...parts: string[]): string => {
  const configured: unknown = __opts__.cachedir;
  const root =
    typeof configured === 'string' && configured.startsWith('/')
      ? configured
      : join(homedir(), '.cache', 'tsalt-ssh', 'minion');
  return join(root, ...parts);
};

/** Where the copy of a `salt://` or web URL is kept. */
export const cachePath = (path: string, saltenv: string): string => {
  const url = parseSource(path);
  if (url.scheme === 'salt') return cacheDir('files', url.saltenv ?? saltenv, url.path);
  const { host, pathname, search } = new URL(path, 'file:///');
  const file = `.${pathname}${search.replaceAll('/', '_')}`;
  return cacheDir('extrn_files', saltenv, host || 'local', file);
};
