/** Path functions like Python's `os.path`, which normalize less than Node's. */

import { normalize } from 'node:path';

/** `os.path.join`: an absolute component discards those before it, and nothing is resolved. */
export const pythonJoin = (parts: readonly string[]): string =>
  parts.reduce((path, part) => {
    if (part.startsWith('/')) return part;
    return path === '' || path.endsWith('/') ? path + part : `${path}/${part}`;
  });

/** `os.path.dirname`: the part before the last slash, without trailing slashes. */
export const pythonDirname = (path: string): string => {
  const head = path.slice(0, path.lastIndexOf('/') + 1);
  return head.replace(/([^/])\/+$/, '$1');
};

/** `os.path.normpath`: two leading slashes are kept, because they have a special meaning in POSIX. */
export const pythonNormpath = (path: string): string => {
  const tidy = normalize(path).replace(/(.)\/$/, '$1');
  return /^\/\/(?!\/)/.test(path) ? `/${tidy}` : tidy;
};
