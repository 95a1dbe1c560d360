/**
 * Reads and writes attributes of the kernel's devices in /sys.
 *
 * @platform Linux
 */

import { basename, join } from 'node:path';
import { isDir, isFile, lstatOf, statOf } from '../../_shared/files/file-paths.ts';
import { readNames } from '../../_shared/files/read-file.ts';
import {
  closeSync,
  constants,
  openSync,
  readSync,
  realpathSync,
  writeFileSync,
} from '../../_shared/safe-fs/fs.ts';
import type { Plain, PlainDict } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  process.platform === 'linux' || [false, 'there is no /sys here.'];

const pathOf = (key: string): string | undefined => {
  try {
    const path = realpathSync(key.startsWith('/sys/') || key === '/sys' ? key : join('/sys', key));
    return path === '/sys' || path.startsWith('/sys/') ? path : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Returns the path of a key with its links resolved; false if it does not exist.
 *
 * @param key a path below /sys
 * @param full false: only its last part
 * @example tsalt-ssh '*' sysfs.target class/net/eth0
 */
export const target = async (key: string, full = true): Promise<string | false> => {
  const path = pathOf(key);
  return path === undefined ? false : full ? path : basename(path);
};

/**
 * Returns an attribute's value. With a value, sets it and returns whether that succeeded. For a
 * folder, returns its path.
 *
 * @param key a path below /sys
 * @param value the value to write
 * @example tsalt-ssh '*' sysfs.attr block/sda/queue/logical_block_size
 */
export const attr = async (key: string, value: Plain = null): Promise<Plain> => {
  const path = pathOf(key);
  if (path === undefined) return false;
  if (isDir(path)) return path;
  return value === null ? read(path) : write(path, value);
};

/**
 * Writes to an attribute and returns whether that succeeded.
 *
 * @param key a path below /sys
 * @param value the value to write
 * @example tsalt-ssh '*' sysfs.write block/sda/queue/scheduler none
 */
export const write = async (key: string, value: Plain): Promise<boolean> => {
  const path = pathOf(key);
  if (path === undefined) return false;
  try {
    writeFileSync(path, `${value}\n`, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
};

const attributeOf = (path: string): Plain => {
  let fd: number | undefined;
  try {
    // Some attributes are pipes, and reading would block while nothing writes to them.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(65536);
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, null)).trim();
    if (text === '') return false;
    return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

/**
 * Returns an attribute's value, or all attributes below a folder; false if nothing can be read.
 *
 * @param key a path below /sys, or several
 * @param root prefix of the keys
 * @example tsalt-ssh '*' sysfs.read class/net/eth0/statistics
 */
export const read = async (key: string | string[], root = ''): Promise<Plain> => {
  if (Array.isArray(key)) {
    const all: PlainDict = {};
    for (const one of key) {
      const value = await read(join(root, one));
      if (value !== false) all[one] = value;
    }
    return all;
  }
  const path = pathOf(root === '' || key.startsWith('/') ? key : join(root, key));
  if (path === undefined) return false;
  if (!isDir(path)) return attributeOf(path);
  const found = kindsBelow(path);
  const tree: PlainDict = {};
  for (const below of [...found.r, ...found.rw]) {
    const value = attributeOf(join(path, below));
    if (value === false) continue;
    const parts = below.split('/');
    let place = tree;
    for (const part of parts.slice(0, -1)) {
      place[part] ??= {};
      place = place[part] as PlainDict;
    }
    place[parts.at(-1) ?? ''] = value;
  }
  return tree;
};

type Kinds = { r: string[]; w: string[]; rw: string[] };

const kindsBelow = (root: string, below = '', kinds: Kinds = { r: [], w: [], rw: [] }): Kinds => {
  for (const name of readNames(join(root, below))) {
    const at = join(below, name);
    const path = join(root, at);
    if (lstatOf(path)?.isDirectory()) kindsBelow(root, at, kinds);
    else if (isFile(path)) {
      const mode = statOf(path)?.mode ?? 0;
      const kind = `${mode & 0o400 ? 'r' : ''}${mode & 0o200 ? 'w' : ''}`;
      if (kind === 'r' || kind === 'w' || kind === 'rw') kinds[kind].push(at);
    }
  }
  return kinds;
};

/**
 * Returns the attributes below a folder by their permissions: `r`, `w` and `rw`. Links are not
 * followed. Returns false if the path is not a folder.
 *
 * @param root a path below /sys
 * @example tsalt-ssh '*' sysfs.interfaces class/net/eth0/statistics
 */
export const interfaces = async (root: string): Promise<Kinds | false> => {
  const path = pathOf(root);
  return path === undefined || !isDir(path) ? false : kindsBelow(path);
};
