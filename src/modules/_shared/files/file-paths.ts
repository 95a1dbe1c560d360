import {
  accessSync,
  constants,
  lstatSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { homeOf } from './owner-names.ts';

/** `~` and `~user` at the start of a path, as a shell reads them. */
export const expandUser = (path: string): string => {
  if (!path.startsWith('~')) return path;
  const [, user = '', rest = ''] = path.match(/^~([^/]*)(.*)$/s) ?? [];
  const home = user === '' ? homedir() : homeOf(user);
  return home === undefined ? path : home.replace(/\/+$/, '') + rest || '/';
};

const absent = { throwIfNoEntry: false } as const;

/** `stat`, or undefined for what is not there (or cannot be looked at). */
export const statOf = (path: string): Stats | undefined => quiet(() => statSync(path, absent));

/** `lstat`, or undefined for what is not there. */
export const lstatOf = (path: string): Stats | undefined => quiet(() => lstatSync(path, absent));

const quiet = (look: () => Stats | undefined): Stats | undefined => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

export const exists = (path: string): boolean => statOf(path) !== undefined;
export const linkExists = (path: string): boolean => lstatOf(path) !== undefined;
export const isFile = (path: string): boolean => statOf(path)?.isFile() ?? false;
export const isDir = (path: string): boolean => statOf(path)?.isDirectory() ?? false;
export const isLink = (path: string): boolean => lstatOf(path)?.isSymbolicLink() ?? false;
/** Whether a path may be run; a folder, whether it may be entered. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
export const isAbs = (path: string): boolean => isAbsolute(path);

/** Where a path leads after all links; a part that is not there stays as it is. */
export const realPath = (path: string, hops = 40): string => {
  try {
    return realpathSync(path);
  } catch {
    const parts = path.split('/');
    const last = parts.pop();
    const parent = parts.join('/');
    if (last === undefined || parent === '') return path;
    const place = join(realPath(parent), last);
    return isLink(place) && hops > 0
      ? realPath(resolve(dirname(place), readlinkSync(place)), hops - 1)
      : place;
  }
};
