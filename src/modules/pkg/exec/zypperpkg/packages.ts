/**
 * Manages packages of SUSE, with zypper. Its virtual name is `pkg`.
 *
 * @platform SUSE
 * @depends zypper, rpm
 */

import { which } from '../../../_shared/commands/which.ts';
import { __grains__ } from '../../../api.ts';
import {
  latestVersion,
  listUpgrades,
  purging,
  refreshDb,
  removing,
  upgradeAvailable,
  upgrading,
  versionCmp,
  versionOf,
} from '../../package-functions.ts';
import { installWith } from '../../package-install.ts';
import { type ManagerOptions, refreshWith, runManager } from '../../package-manager.ts';
import type { PackageChanges } from '../../packages.ts';
import { rpmListPkgs } from '../../rpm-list.ts';
import { zypper } from '../../zypper.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Suse' && which('zypper')
    ? __virtualname__
    : [false, 'This is no SUSE system with zypper.'];

export const list_pkgs = rpmListPkgs;
export const version = versionOf(zypper);
export const latest_version = latestVersion(zypper);

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

export const upgrade_available = upgradeAvailable(zypper);

/**
 * Installs packages and returns the changes.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the repositories' data first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param fromrepo this repository, even if it has an older version or another vendor
 * @param skip_verify true: without checking signatures
 * @param reinstall true: install packages again that are already installed
 * @param downloadonly true: download only
 * @param no_recommends true: without recommended packages
 * @param resolve_capabilities true: names may be capabilities that packages provide
 * @param ignore_repo_failure accepted for compatibility with Salt: failing repositories are always
 * left out
 * @param advisory_ids install these patches instead of packages
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.install nginx no_recommends=True
 */
export const install = async (
  name: string | null = null,
  options: ManagerOptions = {},
): Promise<PackageChanges> => installWith(zypper, name, options);

export const remove = removing(zypper);
export const purge = purging(zypper);

/**
 * Upgrades all packages, or some, and returns the changes.
 *
 * @param name this package only, or several with commas; not with `dist_upgrade`
 * @param pkgs these packages only; not with `dist_upgrade`
 * @param refresh false: without fetching the repositories' data first
 * @param dist_upgrade true: `dist-upgrade`, which may replace and remove packages
 * @param dryrun true: only return zypper's plan, as text
 * @param fromrepo these repositories only
 * @param novendorchange true: do not change vendors (with `dist_upgrade`)
 * @param skip_verify true: without checking signatures
 * @param no_recommends true: without recommended packages (with `dist_upgrade`)
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.upgrade dist_upgrade=True fromrepo=repo-update
 */
export const upgrade = async (
  options: ManagerOptions & { name?: string | null } = {},
): Promise<PackageChanges | string> => {
  if (options.dryrun !== true) return upgradeAll(options);
  if (options.refresh !== false) await refreshWith(zypper, options);
  const { stdout, stderr } = await runManager(zypper.upgrade([], options), zypper.locked);
  return `${stdout}\n${stderr}`.trim();
};

const upgradeAll = upgrading(zypper);

export const list_upgrades = listUpgrades(zypper);

/** The other name of `pkg.list_upgrades`. */
export const list_updates = list_upgrades;

/**
 * Fetches the package lists.
 *
 * @param force false: fetch only outdated lists. Default: the pillar's `zypper:refreshdb_force`,
 * or true
 * @param root a folder with another system
 * @returns whether each repository had new data
 * @example tsalt-ssh '*' pkg.refresh_db force=False
 */
export const refresh_db = refreshDb(zypper);

export const version_cmp = versionCmp(zypper);
