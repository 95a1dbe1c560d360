import { CommandExecutionError, type Plain, type PlainDict } from '../../api.ts';
import { runManager } from '../../lib/package-manager.ts';
import { targetsOf } from '../../lib/packages.ts';
import { yum, yumProgram } from '../../lib/yum.ts';

/**
 * The packages that are kept at their version (dnf's versionlock plugin).
 *
 * @example tsalt-ssh '*' pkg.list_holds
 */
export const list_holds = async (
  options: { full?: boolean; pattern?: string } = {},
): Promise<string[]> => {
  const { stdout } = await runManager([yumProgram(), '-q', 'versionlock', 'list'], yum.locked);
  const locks = stdout
    .split('\n')
    .filter(line => /^\S+-\d+:/.test(line) || /^\S+-\S+-\S+\.\*/.test(line));
  return options.full === true ? locks : locks.map(_lockedName);
};

/**
 * Keeps packages at their version (dnf's versionlock plugin).
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, true);

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
): Promise<PlainDict> => changeLocks(name, options.pkgs, false);

const changeLocks = async (
  name: string | null,
  pkgs: Plain | undefined,
  holding: boolean,
): Promise<PlainDict> => {
  const locked = await list_holds();
  const results: PlainDict = {};
  for (const one of targetsOf(name, pkgs, undefined).keys()) {
    const isDone = locked.includes(one) === holding;
    const { code, stderr, stdout } = isDone
      ? { code: 0, stderr: '', stdout: '' }
      : await runManager(
          [yumProgram(), 'versionlock', holding ? 'add' : 'delete', one],
          yum.locked,
        );
    if (/no such command: versionlock/i.test(stderr + stdout))
      throw new CommandExecutionError(
        'Holding packages needs the versionlock plugin: install python3-dnf-plugin-versionlock.',
      );
    const state = holding ? ['install', 'hold'] : ['hold', 'install'];
    results[one] = {
      name: one,
      changes: isDone || code !== 0 ? {} : { old: state[0] ?? '', new: state[1] ?? '' },
      result: code === 0,
      comment:
        code !== 0
          ? `Package ${one} was unable to be ${holding ? 'held' : 'unheld'}.`
          : isDone
            ? `Package ${one} is already ${holding ? 'set to be held' : 'set not to be held'}.`
            : `Package ${one} is ${holding ? 'now' : 'no longer'} being held.`,
    };
  }
  return results;
};

/** The package of `nginx-1:1.20.1-14.el9.*`. */
export const _lockedName = (lock: string): string =>
  lock.replace(/^(\S+)-\d+:.*$/, '$1').replace(/^(\S+?)-[^-]+-[^-]+$/, '$1');
