/** Paths as Python's `os.path` makes them; Node's own functions tidy up where these do not. */

import { normalize } from 'node:path';

/** `os.path.join`: an absolute part drops those before it, and nothing is resolved. */
export const pythonJoin = (parts: readonly string[]): string =>
  parts.reduce((path, part) => {
    if (part.startsWith('/')) return part;
    return path === '' || path.endsWith('/') ? path + part : `${path}/${part}`;
  });

/** `os.path.dirname`: what is before the last slash, without slashes at its end. */
export const pythonDirname = (path: string): string => {
  const head = path.slice(0, path.lastIndexOf('/') + 1);
  return head.replace(/([^/])\/+$/, '$1');
};

/** `os.path.normpath`: two slashes at the start stay, as POSIX has them mean something else. */
export const pythonNormpath = (path: string): string => {
  const tidy = normalize(path).replace(/(.)\/$/, '$1');
  return /^\/\/(?!\/)/.test(path) ? `/${tidy}` : tidy;
};
