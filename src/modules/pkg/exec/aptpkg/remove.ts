import { getOwn } from '../../../../protocol/plain.ts';
import { repackDictList } from '../../../_shared/states/values.ts';
import type { Plain } from '../../../api.ts';
import { apt, normalize } from '../../apt-run.ts';
import { dpkgList, installedNow } from '../../dpkg-list.ts';
import {
  forgetPackages,
  type PackageChanges,
  PackageError,
  packageChanges,
  targetsOf,
} from '../../packages.ts';

/**
 * Removes packages, keeping their configuration, and returns the changes.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.remove nginx
 */
export const remove = async (
  name: string | null = null,
  options: { pkgs?: Plain; version?: Plain; env?: Plain; [other: string]: unknown } = {},
): Promise<PackageChanges> => {
  const { installed: changes } = await uninstall('remove', name, options);
  return changes;
};

/**
 * Removes packages with their configuration and returns the changes, `removed` and `installed`.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.purge nginx
 */
export const purge = async (
  name: string | null = null,
  options: { pkgs?: Plain; version?: Plain; env?: Plain; [other: string]: unknown } = {},
): Promise<{ removed: PackageChanges; installed: PackageChanges } | Record<string, never>> => {
  const changes = await uninstall('purge', name, options);
  return changes.any ? { removed: changes.removed, installed: changes.installed } : {};
};

const uninstall = async (
  action: 'remove' | 'purge',
  name: string | null,
  { pkgs, env }: { pkgs?: Plain; env?: Plain },
): Promise<{ any: boolean; removed: PackageChanges; installed: PackageChanges }> => {
  const wanted = targetsOf(name, pkgs, undefined, normalize);
  const before = await dpkgList();
  const have = await installedNow();
  const targets = [...wanted.keys()].filter(
    one => getOwn(have, one) || (action === 'purge' && getOwn(before.removed, one)),
  );
  if (targets.length === 0) return { any: false, removed: {}, installed: {} };
  const { code, stdout, stderr } = await apt(['-q', '-y', action, '--', ...targets], {
    env: repackDictList(env),
  });
  forgetPackages();
  const after = await dpkgList();
  const installed = packageChanges(have, await installedNow());
  const removed = packageChanges(before.removed, after.removed);
  if (code !== 0)
    throw new PackageError(
      'Problem encountered removing package(s)',
      [stderr.trim() || stdout.trim()],
      action === 'purge' ? { removed, installed } : installed,
    );
  return { any: true, removed, installed };
};

/**
 * Removes packages that were installed only as dependencies of others.
 *
 * @param list_only true: return their names and remove nothing
 * @param purge true: with their configuration
 * @example tsalt-ssh '*' pkg.autoremove list_only=True
 */
export const autoremove = async ({
  list_only = false,
  purge: purging = false,
}: {
  list_only?: boolean;
  purge?: boolean;
} = {}): Promise<string[] | PackageChanges> => {
  const options = purging ? ['--purge'] : [];
  if (list_only) {
    const { stdout } = await apt(['-s', ...options, 'autoremove']);
    return [...stdout.matchAll(/^(?:Remv|Purg) (\S+)/gm)].map(match => match[1] ?? '').sort();
  }
  const before = await installedNow();
  await apt(['-q', '-y', ...options, 'autoremove']);
  forgetPackages();
  return packageChanges(before, await installedNow());
};
