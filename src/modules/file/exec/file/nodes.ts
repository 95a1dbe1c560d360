import { runCommand } from '../../../_shared/commands/run-command.ts';
import { expandUser, lstatOf, statOf } from '../../../_shared/files/file-paths.ts';
import { statfsSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import {
  CommandExecutionError,
  type PlainDict,
  SaltInvocationError,
  type StateReturn,
} from '../../../api.ts';

type Who = string | number | null;

/**
 * Whether a path is a block device.
 *
 * @example tsalt-ssh '*' file.is_blkdev /dev/sda
 */
export const is_blkdev = async (name: string): Promise<boolean> =>
  statOf(expandUser(name))?.isBlockDevice() ?? false;

/**
 * Whether a path is a character device.
 *
 * @example tsalt-ssh '*' file.is_chrdev /dev/null
 */
export const is_chrdev = async (name: string): Promise<boolean> =>
  statOf(expandUser(name))?.isCharacterDevice() ?? false;

/**
 * Whether a path is a named pipe.
 *
 * @example tsalt-ssh '*' file.is_fifo /run/initctl
 */
export const is_fifo = async (name: string): Promise<boolean> =>
  statOf(expandUser(name))?.isFIFO() ?? false;

/**
 * Returns the major and minor number of a device; zeros for anything else.
 *
 * @example tsalt-ssh '*' file.get_devmm /dev/null
 */
export const get_devmm = async (name: string): Promise<[number, number]> => {
  const found = lstatOf(expandUser(name));
  if (!found || !(found.isBlockDevice() || found.isCharacterDevice())) return [0, 0];
  const device = BigInt(found.rdev);
  // Like glibc's gnu_dev_major and gnu_dev_minor.
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  return [Number(major), Number(minor)];
};

const words = { c: 'Character device', b: 'Block device', p: 'Fifo pipe' } as const;

type NodeType = keyof typeof words;

/**
 * Creates a device or a named pipe. An existing one is not changed.
 *
 * @param name the path
 * @param ntype `c` (character device), `b` (block device) or `p` (named pipe)
 * @param major the major number of a device
 * @param minor the minor number of a device
 * @param user its owner
 * @param group its group
 * @param mode its mode
 * @example tsalt-ssh '*' file.mknod /run/app.fifo p
 */
export const mknod = async (
  name: string,
  ntype: string,
  major = 0,
  minor = 0,
  user: Who = null,
  group: Who = null,
  mode: string | number = '0600',
): Promise<StateReturn> => {
  if (!Object.hasOwn(words, ntype))
    throw new SaltInvocationError(
      `Node type unavailable: '${ntype}'. Available node types are character ('c'), block ('b'), and pipe ('p').`,
    );
  const path = expandUser(name);
  const what = words[ntype as NodeType];
  if (lstatOf(path)) throw new CommandExecutionError(`${path} already exists`);
  await salt('file.makedirs')(path, { user, group });
  const numbers = ntype === 'p' ? [] : [String(major), String(minor)];
  const made = await runCommand(['mknod', '-m', String(mode), '--', path, ntype, ...numbers], {
    plainLocale: true,
  });
  if (made.code !== 0) throw new CommandExecutionError(made.stderr.trim());
  if (user !== null || group !== null) await salt('file.chown')(path, user, group);
  return {
    name,
    changes: { new: `${what} ${path} created.` },
    result: true,
    comment: `${what} ${path} created`,
  };
};

/** Makes a character device. */
export const mknod_chrdev = async (
  name: string,
  major: number,
  minor: number,
  user: Who = null,
  group: Who = null,
  mode: string | number = '0660',
): Promise<StateReturn> => mknod(name, 'c', major, minor, user, group, mode);

/** Makes a block device. */
export const mknod_blkdev = async (
  name: string,
  major: number,
  minor: number,
  user: Who = null,
  group: Who = null,
  mode: string | number = '0660',
): Promise<StateReturn> => mknod(name, 'b', major, minor, user, group, mode);

/** Makes a named pipe. */
export const mknod_fifo = async (
  name: string,
  user: Who = null,
  group: Who = null,
  mode: string | number = '0660',
): Promise<StateReturn> => mknod(name, 'p', 0, 0, user, group, mode);

/**
 * Returns the usage of the file system that a path is on: sizes in blocks, and numbers of files.
 *
 * @example tsalt-ssh '*' file.statvfs /var
 */
export const statvfs = async (path: string): Promise<PlainDict> => {
  try {
    const { bavail, bfree, blocks, bsize, ffree, files } = statfsSync(expandUser(path));
    return {
      f_bavail: bavail,
      f_bfree: bfree,
      f_blocks: blocks,
      f_bsize: bsize,
      f_favail: ffree,
      f_ffree: ffree,
      f_files: files,
      f_frsize: bsize,
    };
  } catch (cause) {
    throw new CommandExecutionError(`Could not statvfs '${path}'`, { cause });
  }
};
