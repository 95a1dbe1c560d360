import type { Plain } from '../api.ts';
import {
  installedBy,
  installWith,
  latestWith,
  type Manager,
  type ManagerOptions,
  refreshWith,
  removeWith,
  upgradeWith,
} from './package-manager.ts';
import { withoutEpoch } from './package-version.ts';
import { type PackageChanges, shownPackages, targetsOf } from './packages.ts';

/**
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @example tsalt-ssh '*' pkg.list_pkgs
 */
export const listPkgs =
  (manager: Pick<Manager, 'list'>) =>
  async ({
    versions_as_list = false,
    removed = false,
    purge_desired = false,
  }: {
    versions_as_list?: boolean;
    removed?: boolean;
    purge_desired?: boolean;
    [other: string]: unknown;
  } = {}): Promise<{ [name: string]: string | string[] }> =>
    removed || purge_desired ? {} : shownPackages(await installedBy(manager), versions_as_list);

/**
 * The version of installed packages; an empty text for one that is not installed.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.version openssh
 */
export const versionOf =
  (manager: Pick<Manager, 'list'>) =>
  async (...names: string[]): Promise<string | { [name: string]: string }> => {
    const list = await installedBy(manager);
    const found = names.map(name => [name, list[name]?.join(',') ?? ''] as const);
    return found.length === 1 ? (found[0]?.[1] ?? '') : Object.fromEntries(found);
  };

/**
 * The newest version that could be installed; an empty text when it is installed already.
 *
 * @param refresh false: without fetching the package lists first
 * @param fromrepo this repository only, where the manager can
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latestVersion =
  (manager: Manager) =>
  async (
    { refresh = true, fromrepo = null }: { refresh?: boolean; fromrepo?: string | null },
    ...names: string[]
  ): Promise<string | { [name: string]: string }> => {
    if (refresh) await refreshWith(manager);
    return latestWith(manager, names, await manager.candidates(names, { fromrepo }));
  };

/**
 * Installs packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the package lists first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param reinstall true: install what is installed again
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const installing =
  (manager: Manager) =>
  async (name: string | null = null, options: ManagerOptions = {}): Promise<PackageChanges> =>
    installWith(manager, name, options);

/**
 * Removes packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.remove nginx
 */
export const removing =
  (manager: Manager) =>
  async (
    name: string | null = null,
    options: { pkgs?: Plain; [other: string]: unknown } = {},
  ): Promise<PackageChanges> =>
    removeWith(manager, 'remove', name, options.pkgs);

/**
 * Removes packages, with their configuration where the manager keeps it apart, and gives what
 * changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.purge nginx
 */
export const purging =
  (manager: Manager) =>
  async (
    name: string | null = null,
    options: { pkgs?: Plain; [other: string]: unknown } = {},
  ): Promise<PackageChanges> =>
    removeWith(manager, 'purge', name, options.pkgs);

/**
 * Upgrades all packages, or some, and gives what changed.
 *
 * @param refresh false: without fetching the package lists first
 * @param pkgs these packages only
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrading =
  (manager: Manager) =>
  async ({
    refresh = true,
    pkgs = null,
    ...options
  }: ManagerOptions = {}): Promise<PackageChanges> => {
    if (refresh) await refreshWith(manager);
    const some = pkgs === null ? [] : [...targetsOf(null, pkgs, undefined).keys()];
    return upgradeWith(manager, manager.upgrade(some, options));
  };

/**
 * The packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the package lists first
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const listUpgrades =
  (manager: Manager) =>
  async ({
    refresh = true,
    ...options
  }: ManagerOptions = {}): Promise<{
    [name: string]: string;
  }> => {
    if (refresh) await refreshWith(manager);
    return Object.fromEntries(await manager.upgrades(options));
  };

/**
 * Fetches the package lists.
 *
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refreshDb = (manager: Manager) => async (): Promise<boolean> => refreshWith(manager);

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 1.2-1 1.10-1
 */
export const versionCmp =
  ({ compare }: Manager) =>
  async (
    pkg1: string,
    pkg2: string,
    { ignore_epoch = false }: { ignore_epoch?: boolean } = {},
  ): Promise<number> =>
    Math.sign(ignore_epoch ? compare(withoutEpoch(pkg1), withoutEpoch(pkg2)) : compare(pkg1, pkg2));
