import { fnmatch } from '../../../../data/python/glob.ts';
import { __opts__, type PlainDict } from '../../../api.ts';
import { type HoldOptions, type HoldResults, heldNames } from '../../holds.ts';
import { changeLock, lockedName, yumLocks } from '../../yum-locks.ts';

/**
 * Lists the held packages (dnf's versionlock plugin).
 *
 * @param pattern a glob: only packages whose names it matches
 * @param full false: only their names
 * @returns the locks, such as `nginx-1:1.20.1-14.el9.*`
 * @example tsalt-ssh '*' pkg.list_holds full=False
 */
export const list_holds = async ({
  pattern = '*',
  full = true,
}: {
  pattern?: string;
  full?: boolean;
} = {}): Promise<string[]> => {
  const locks = (await yumLocks()).filter(lock => fnmatch(lockedName(lock), pattern));
  return full ? locks : locks.map(lockedName);
};

/** The other name of `pkg.list_holds`. */
export const get_locked_packages = list_holds;

/**
 * Keeps packages at their version (dnf's versionlock plugin).
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changeLocks(name, options, true);

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  options: HoldOptions = {},
): Promise<HoldResults> => changeLocks(name, options, false);

const changeLocks = async (
  name: string | null,
  options: HoldOptions,
  holding: boolean,
): Promise<HoldResults> => {
  const names = heldNames(name, options);
  const locked = (await yumLocks()).map(lockedName);
  const results: HoldResults = {};
  for (const one of names) {
    const isDone = locked.includes(one) === holding;
    const worked = isDone || __opts__.test ? true : await changeLock(one, holding);
    results[one] = {
      name: one,
      changes: isDone || __opts__.test || !worked ? {} : changed(holding),
      result: isDone ? true : __opts__.test ? null : worked,
      comment: `Package ${one} ${said(holding, isDone, worked)}.`,
    };
  }
  return results;
};

const changed = (holding: boolean): PlainDict =>
  holding ? { new: 'hold', old: '' } : { new: '', old: 'hold' };

const said = (holding: boolean, isDone: boolean, worked: boolean): string => {
  if (isDone) return holding ? 'is already set to be held' : 'is not being held';
  if (__opts__.test) return `is set to be ${holding ? 'held' : 'unheld'}`;
  if (!worked) return `was unable to be ${holding ? 'held' : 'unheld'}`;
  return holding ? 'is now being held' : 'is no longer held';
};
