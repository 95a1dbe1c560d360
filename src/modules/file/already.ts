import type { DesiredPerms } from '../_shared/files/check-perms.ts';
import type { AccountIds } from '../_shared/files/file-checks.ts';
import { hashBytes } from '../_shared/files/file-hash.ts';
import { modeText, normalizeMode } from '../_shared/files/file-mode.ts';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
} from '../_shared/safe-fs/fs.ts';
import type { FoundSource } from '../_shared/sources/file-source.ts';
import type { DesiredFile } from './managed-file.ts';

/** What a look at a file can show: its content need not be there. */
export type ComparedFile = Pick<DesiredFile, 'name' | 'perms' | 'contents'> & {
  readonly source?: Pick<FoundSource, 'sum' | 'size' | 'text'> | undefined;
};

/** Bytes that are compared at once. Larger files are left to the general way, which reads parts. */
const most = 64 * 1024;
let buffer: Buffer | undefined;

/**
 * Returns whether a file has its content, owner and mode already, by one look and one open file: what
 * most states of most runs find. False where that does not suffice to know: links, large files,
 * attributes, SELinux, whatever cannot be opened.
 *
 * @param entry what its path was when the state began
 */
export const isAlready = (
  file: ComparedFile,
  entry: Stats | undefined,
  ids: AccountIds,
): boolean => {
  const { name, perms, source, contents } = file;
  if (!source && contents === undefined) return false;
  if (typeof perms.attrs === 'string' || perms.selinux) return false;
  // Devices and pipes are not opened: that alone may do something.
  if (entry?.isFile() !== true) return false;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const fd = openSync(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      return found.isFile() && hasPerms(found, perms, ids) && hasContent(fd, found.size, file);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
};

/** Whether an entry has the mode and the owners that are wanted, whose ids are given. */
export const hasPerms = (
  found: Stats,
  perms: Pick<DesiredPerms, 'user' | 'group' | 'mode'>,
  { uid, gid }: AccountIds,
): boolean => {
  const mode = normalizeMode(perms.mode);
  return (
    (mode === undefined || modeText(found.mode) === mode) &&
    (isLeft(perms.user) || found.uid === uid) &&
    (isLeft(perms.group) || found.gid === gid)
  );
};

/** The owner is not to be changed. */
const isLeft = (account: string | number | null | undefined): account is null | undefined | '' =>
  account === null || account === undefined || account === '';

const hasContent = (fd: number, size: number, { source, contents }: ComparedFile): boolean => {
  if (size > most || size !== (source ? (source.size ?? size) : contents?.length)) return false;
  buffer ??= Buffer.allocUnsafeSlow(most);
  const count = size === 0 ? 0 : readSync(fd, buffer, 0, size, 0);
  if (count !== size) return false;
  const bytes = buffer.subarray(0, size);
  // Comparing takes less than loading what hashes.
  const wanted = source?.text === undefined ? contents : Buffer.from(source.text);
  return wanted
    ? wanted.equals(bytes)
    : source !== undefined && hashBytes(bytes, source.sum.hash_type) === source.sum.hsum;
};
