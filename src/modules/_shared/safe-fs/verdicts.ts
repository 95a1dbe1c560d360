import { readFileSync, type Stats, statfsSync } from 'node:fs';

/** Directories that only root can change, up to `/`, with the numbers of their file systems. */
const trusted = new Map<string, number>();

export const isTrusted = (dir: string): boolean => trusted.has(dir);

/** The file system of a directory that only root can change; undefined while that is not known. */
export const deviceOfTrusted = (dir: string): number | undefined => trusted.get(dir);

export const trust = (dir: string, dev: number): void => {
  trusted.set(dir, dev);
};

/**
 * Forgets which directories only root can change: a command, or a change of an owner or a mode,
 * may have given one away.
 */
export const forgetTrusted = (): void => trusted.clear();

/** The accounts that may change the entries of a directory. */
export type Hold =
  /** Only root. */
  | 'root'
  /** All, each of them only their own entries: `/tmp`. */
  | 'sticky'
  /** A group beside root. */
  | 'group'
  /** Another account, or everybody. */
  | 'other';

const groupOrOther = 0o022;
const sticky = 0o1000;

export const holdOf = ({ uid, mode }: Stats): Hold => {
  if (uid !== 0) return 'other';
  if ((mode & groupOrOther) === 0) return 'root';
  if ((mode & sticky) !== 0) return 'sticky';
  return (mode & 0o002) === 0 ? 'group' : 'other';
};

const fuse = 0x65735546;

/**
 * Returns the account that a FUSE file system belongs to: its daemon can show any owner and any
 * mode. Root for all other file systems.
 *
 * @param dir a directory where another file system begins
 * @param dev the file system's number, as `stat` has it
 */
export const mounterOf = (dir: string, dev: number): number => {
  if (process.platform !== 'linux' || statfsSync(dir).type !== fuse) return 0;
  // The kernel's way to put the two numbers into one.
  const major = Number((BigInt(dev) >> 8n) & 0xfffn);
  const minor = Number((BigInt(dev) & 0xffn) | ((BigInt(dev) >> 12n) & 0xfff00n));
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find(each => each.split(' ')[2] === `${major}:${minor}`);
  const [, uid] = / user_id=(\d+)|,user_id=(\d+)/.exec(line ?? '')?.filter(Boolean) ?? [];
  return uid === undefined ? -1 : Number(uid);
};
