import type { Plain, PlainDict } from '../../api.ts';
import { runManager } from '../../lib/package-manager.ts';
import { targetsOf } from '../../lib/packages.ts';
import { zypper, zypperLine } from '../../lib/zypper.ts';

/**
 * The locks of packages.
 *
 * @example tsalt-ssh '*' pkg.list_locks
 */
export const list_locks = async (): Promise<PlainDict> => {
  const { stdout } = await runManager(zypperLine('locks'), zypper.locked);
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [number, name, type] = line.split('|').map(part => part.trim());
      return /^\d+$/.test(number ?? '') && name ? [[name, { type: type ?? 'package' }]] : [];
    }),
  );
};

/**
 * The names of the packages that are kept at their version.
 *
 * @example tsalt-ssh '*' pkg.list_holds
 */
export const list_holds = async (): Promise<string[]> => Object.keys(await list_locks()).sort();

/**
 * Keeps packages at their version.
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, 'addlock');

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, 'removelock');

const changeLocks = async (
  name: string | null,
  pkgs: Plain | undefined,
  action: 'addlock' | 'removelock',
): Promise<PlainDict> => {
  const locks = await list_locks();
  const results: PlainDict = {};
  const holding = action === 'addlock';
  for (const one of targetsOf(name, pkgs, undefined).keys()) {
    const isDone = one in locks === holding;
    const { code } = isDone
      ? { code: 0 }
      : await runManager(zypperLine(action, one), zypper.locked);
    results[one] = {
      name: one,
      changes:
        isDone || code !== 0 ? {} : { old: holding ? '' : 'hold', new: holding ? 'hold' : '' },
      result: code === 0,
      comment:
        code !== 0
          ? `Unable to ${holding ? 'add' : 'remove'} lock for the package ${one}.`
          : `Package ${one} is ${isDone ? 'already ' : holding ? 'now ' : 'no longer '}${
              isDone ? (holding ? 'set to be held' : 'set not to be held') : 'being held'
            }.`,
    };
  }
  return results;
};
