import { spawnSync } from 'node:child_process';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandExecutionError } from '../../api.ts';
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameBeside,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from '../safe-fs/fs.ts';
import { forProgram, withParent } from '../safe-fs/open-parent.ts';
import { statOf } from './file-paths.ts';
import { fsyncLater } from './fsync-pending.ts';
import { keepAtExit, removeNamedAtExit, temporaryName } from './temporary.ts';

/** Owner, group and mode of a file; those left out are the process's defaults. */
export type Ownership = { readonly uid?: number; readonly gid?: number; readonly mode?: number };

/**
 * Puts content in a file's place in one step: a temporary file beside it gets the content, owner
 * and mode, and takes the name. Readers see the old file or the new one. What replaces a file is
 * on the disk before; what is new is so when the run ends. Owner and mode of an existing file are
 * kept unless `ownership` says otherwise; its access list and extended attributes are kept where
 * the host's `cp` can copy them.
 *
 * @param isNew nothing is in the file's place, as was just seen
 * @returns the file as it is now; undefined where it had to be copied into an existing one
 */
export const writeAtomic = (
  path: string,
  content: Buffer | string,
  ownership: Ownership = {},
  isNew = false,
): Stats | undefined => {
  const temp = openTemp(dirname(path), basename(path));
  try {
    fillTemp(temp, typeof content === 'string' ? Buffer.from(content) : content);
    return commitTemp(temp, path, ownership, isNew);
  } catch (error) {
    discardTemp(temp);
    throw error;
  }
};

export type Temp = {
  readonly path: string;
  readonly fd: number;
  readonly dir: string;
  /** The name of the file it will be, for messages: nobody knows the temporary one. */
  readonly near: string;
};

/** A new empty file that only we can read, with a name nobody can guess. */
export const openTemp = (dir: string, near: string): Temp => {
  const path = `${dir === '/' ? '' : dir}/${temporaryName(near)}`;
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants;
  try {
    removeNamedAtExit(dir, path);
    const fd = openSync(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600);
    return { path, fd, dir, near };
  } catch (error) {
    keepAtExit(path);
    throw unwritable(join(dir, near), error);
  }
};

const unwritable = (path: string, error: unknown): CommandExecutionError =>
  new CommandExecutionError(`${path} cannot be written: ${reasonOf(error)}`);

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'operation not permitted',
    EROFS: 'the file system is read-only',
    ENOSPC: 'no space is left on the device',
    EDQUOT: 'the disk quota is used up',
    ENOENT: 'its folder does not exist',
    ENOTDIR: 'its folder is not a folder',
  };
  return reasons[code ?? ''] ?? message;
};

export const writeBytes = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
};

/** Appends to a temporary file. */
export const fillTemp = ({ fd, dir, near }: Temp, bytes: Uint8Array): void => {
  try {
    writeBytes(fd, bytes);
  } catch (error) {
    throw unwritable(join(dir, near), error);
  }
};

/** Sets owner and mode of a temporary file and renames it to `path`; see `writeAtomic`. */
export const commitTemp = (
  temp: Temp,
  path: string,
  ownership: Ownership = {},
  isNew = false,
): Stats | undefined => {
  const old = isNew ? undefined : statOf(path);
  const uid = ownership.uid ?? old?.uid;
  const gid = ownership.gid ?? old?.gid;
  const keeps = old !== undefined && uid === old.uid && gid === old.gid;
  const inherited = old && old.mode & (keeps ? 0o7777 : 0o1777);
  const mode = ownership.mode ?? inherited ?? 0o666 & ~process.umask();
  if (old) keepAttributes(path, temp.fd);
  own(temp.fd, uid, gid);
  fchmodSync(temp.fd, mode);
  const made = fstatSync(temp.fd);
  // A replacement must be on the disk before the old file is gone; a new file may be synced later.
  const canWait = old === undefined && (mode & 0o400) !== 0;
  if (!canWait) fsyncSync(temp.fd);
  try {
    if (temp.dir === dirname(path)) renameBeside(temp.path, basename(path));
    else renameSync(temp.path, path);
    keepAtExit(temp.path);
    closeSync(temp.fd);
    if (canWait) fsyncLater(path);
    return made;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EBUSY') {
      overwrite(temp, path);
      return undefined;
    }
    if (code !== 'EXDEV') throw error;
    const near = openTemp(dirname(path), basename(path));
    let copied: Stats | undefined;
    try {
      copyFileSync(temp.path, near.path);
      const owner = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
      copied = commitTemp(near, path, { ...owner, mode }, isNew);
    } catch (cause) {
      discardTemp(near);
      throw cause;
    }
    discardTemp(temp);
    return copied;
  }
};

/**
 * Copies extended attributes with a program, since Node cannot read them. The program gets the new
 * file as a descriptor: by its name, the owner of the folder could make it change another file.
 */
const keepAttributes = (from: string, fd: number): void => {
  if (process.platform !== 'linux') return;
  withParent(resolve(from), true, place => {
    const args = ['--attributes-only', '--preserve=mode,xattr', forProgram(place)];
    spawnSync('cp', [...args, '/proc/self/fd/3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  });
};

/** A file that is a mount point (`/etc/hosts` in a container) cannot be renamed over. */
const overwrite = (temp: Temp, path: string): void => {
  copyFileSync(temp.path, path);
  discardTemp(temp);
};

/** Takes back a temporary file that was not committed. */
export const discardTemp = (temp: Temp): void => {
  try {
    closeSync(temp.fd);
  } catch {
    // It was closed before: only its name may be left.
  }
  rmSync(temp.path, { force: true });
  keepAtExit(temp.path);
};

/** Changes the owner where that is allowed. Only root may; callers compare and report the result. */
const own = (fd: number, uid: number | undefined, gid: number | undefined): void => {
  if (uid === undefined && gid === undefined) return;
  const now = fstatSync(fd);
  const wanted = { uid: uid ?? now.uid, gid: gid ?? now.gid };
  if (wanted.uid === now.uid && wanted.gid === now.gid) return;
  try {
    fchownSync(fd, wanted.uid, wanted.gid);
  } catch {
    try {
      fchownSync(fd, now.uid, wanted.gid);
    } catch {
      // The check of owner and group that follows every write says so.
    }
  }
};
