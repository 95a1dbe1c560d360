import { fnmatch } from '../../data/python/glob.ts';
import { getOwn } from '../../protocol/plain.ts';
import { withoutEpoch } from '../_shared/text/package-version.ts';
import type { Plain } from '../api.ts';
import { installWith } from './package-install.ts';
import {
  installedBy,
  latestWith,
  type Manager,
  type ManagerOptions,
  refreshWith,
  removeWith,
  upgradeWith,
} from './package-manager.ts';
import { forgetPackages, type PackageChanges, shownPackages, targetsOf } from './packages.ts';

/**
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @param use_context false: ask the manager again
 * @param root a folder with another system, if the manager supports that
 * @example tsalt-ssh '*' pkg.list_pkgs
 */
export const listPkgs =
  (manager: Pick<Manager, 'list'>) =>
  async ({
    versions_as_list = false,
    removed = false,
    purge_desired = false,
    use_context = true,
    root = null,
  }: {
    versions_as_list?: boolean;
    removed?: boolean;
    purge_desired?: boolean;
    use_context?: boolean;
    root?: string | null;
    [other: string]: unknown;
  } = {}): Promise<{ [name: string]: string | string[] }> => {
    if (removed || purge_desired) return {};
    if (!use_context) forgetPackages();
    return shownPackages(await installedBy(manager, root), versions_as_list);
  };

/**
 * Returns the version of installed packages; an empty string for one that is not installed. For a
 * glob, returns the versions of all matching packages, by name.
 *
 * @param names names of packages, or globs
 * @example tsalt-ssh '*' pkg.version openssh
 */
export const versionOf =
  (manager: Pick<Manager, 'list'>) =>
  async (...names: string[]): Promise<string | { [name: string]: string }> => {
    const list = await installedBy(manager);
    const hasGlob = names.some(name => name.includes('*'));
    const found = names
      .flatMap(name =>
        name.includes('*') ? Object.keys(list).filter(one => fnmatch(one, name)) : [name],
      )
      .map(name => [name, getOwn(list, name)?.join(',') ?? ''] as const);
    return found.length === 1 && !hasGlob ? (found[0]?.[1] ?? '') : Object.fromEntries(found);
  };

/**
 * Returns the newest available version; an empty string if it is already installed.
 *
 * @param refresh whether to fetch the package lists first: true by default, except with pacman
 * @param fromrepo only this repository, if the manager supports that
 * @param enablerepo repositories to switch on for it (dnf, yum)
 * @param disablerepo repositories to switch off for it (dnf, yum)
 * @param root a folder with another system, if the manager supports that
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latestVersion =
  (manager: Manager) =>
  async (
    { refresh = manager.refreshesFirst ?? true, ...options }: ManagerOptions,
    ...names: string[]
  ): Promise<string | { [name: string]: string }> => {
    if (names.length === 0) return '';
    if (refresh) await refreshWith(manager, options);
    const candidates = await manager.candidates(names, options);
    return latestWith(manager, names, candidates, options.root);
  };

/**
 * Whether a newer version of a package is available.
 *
 * @param name a package
 * @param refresh whether to fetch the package lists first: true by default, except with pacman
 * @example tsalt-ssh '*' pkg.upgrade_available nginx
 */
export const upgradeAvailable =
  (manager: Manager) =>
  async (name: string, options: ManagerOptions = {}): Promise<boolean> =>
    (await latestVersion(manager)(options, name)) !== '';

/**
 * Installs packages and returns the changes.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the package lists first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param reinstall true: install packages again that are already installed
 * @param root a folder with another system, if the manager supports that
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const installing =
  (manager: Manager) =>
  async (name: string | null = null, options: ManagerOptions = {}): Promise<PackageChanges> =>
    installWith(manager, name, options);

/**
 * Removes packages and returns the changes.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages, or `{name: version}`
 * @param root a folder with another system, if the manager supports that
 * @example tsalt-ssh '*' pkg.remove nginx
 */
export const removing =
  (manager: Manager) =>
  async (name: string | null = null, options: ManagerOptions = {}): Promise<PackageChanges> =>
    removeWith(manager, 'remove', name, options);

/**
 * Removes packages, with their configuration if the manager distinguishes it, and returns the
 * changes.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.purge nginx
 */
export const purging =
  (manager: Manager) =>
  async (name: string | null = null, options: ManagerOptions = {}): Promise<PackageChanges> =>
    removeWith(manager, 'purge', name, options);

/**
 * Upgrades all packages, or some, and returns the changes.
 *
 * @param name this package only, or several with commas
 * @param refresh whether to fetch the package lists first: true by default, except with pacman
 * @param pkgs these packages only
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrading =
  (manager: Manager) =>
  async ({
    name = null,
    refresh = manager.refreshesFirst ?? true,
    pkgs = null,
    ...options
  }: ManagerOptions & { name?: string | null } = {}): Promise<PackageChanges> => {
    if (refresh) await refreshWith(manager, options);
    const some = name || pkgs ? [...targetsOf(name, pkgs, undefined).keys()] : [];
    return upgradeWith(manager, manager.upgrade(some, options), options);
  };

/**
 * Lists the packages that an upgrade would change, with their new versions.
 *
 * @param refresh whether to fetch the package lists first: true by default, except with pacman
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const listUpgrades =
  (manager: Manager) =>
  async ({
    refresh = manager.refreshesFirst ?? true,
    ...options
  }: ManagerOptions = {}): Promise<{
    [name: string]: string;
  }> => {
    if (refresh) await refreshWith(manager, options);
    return Object.fromEntries(await manager.upgrades(options));
  };

/**
 * Fetches the package lists.
 *
 * @param root a folder with another system, if the manager supports that
 * @returns with dnf and yum, true if there are updates, otherwise null; with zypper and pacman,
 * whether each repository had new data; with others true
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refreshDb =
  (manager: Manager) =>
  async (options: ManagerOptions = {}): Promise<Plain> =>
    refreshWith(manager, options);

/**
 * Compares two versions: returns -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 1.2-1 1.10-1
 */
export const versionCmp =
  ({ compare }: Manager) =>
  async (
    pkg1: string | number,
    pkg2: string | number,
    { ignore_epoch = false }: { ignore_epoch?: boolean } = {},
  ): Promise<number> => {
    const [one, two] = [pkg1, pkg2].map(part => {
      const text = String(part);
      return ignore_epoch ? withoutEpoch(text) : text;
    });
    return Math.sign(compare(one ?? '', two ?? ''));
  };
