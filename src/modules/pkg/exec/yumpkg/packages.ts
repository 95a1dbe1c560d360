/**
 * Manages packages of RedHat and its derivatives, with dnf or yum. Its virtual name is `pkg`.
 *
 * @platform RedHat, Fedora, Amazon and their derivatives
 * @depends dnf or yum, rpm
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
import type { ManagerOptions } from '../../package-manager.ts';
import type { PackageChanges } from '../../packages.ts';
import { rpmListPkgs } from '../../rpm-list.ts';
import { yum } from '../../yum.ts';

export const __virtualname__ = 'pkg';

const kin = ['amazon', 'xcp', 'xenserver', 'virtuozzolinux', 'virtuozzo', 'openeuler'];

export const __virtual__ = (): string | [false, string] =>
  (__grains__.os_family === 'RedHat' || kin.includes(String(__grains__.os).toLowerCase())) &&
  (which('dnf') ?? which('yum'))
    ? __virtualname__
    : [false, 'This is no Red Hat family system with dnf or yum.'];

/**
 * Installs packages and returns the changes.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the repositories' data first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param disableexcludes the excludes to ignore: of `main`, `all` or a repository
 * @param skip_verify true: without checking signatures
 * @param reinstall true: install packages again that are already installed
 * @param downloadonly true: download only
 * @param update_holds true: held packages may be changed, and are held again afterwards
 * @param setopt settings for dnf, `name=value`
 * @param advisory_ids install the packages of these advisories instead
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const install = async (
  name: string | null = null,
  options: ManagerOptions = {},
): Promise<PackageChanges> => installWith(yum, name, options);

export const list_pkgs = rpmListPkgs;

export const version = versionOf(yum);

export const latest_version = latestVersion(yum);

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

export const upgrade_available = upgradeAvailable(yum);

export const remove = removing(yum);

export const purge = purging(yum);

/**
 * Upgrades all packages, or some, and returns the changes. Further arguments are passed to dnf
 * unchanged: `exclude='kernel*'`, `security=True`.
 *
 * @param pkgs these packages only
 * @param refresh false: without fetching the repositories' data first
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param skip_verify true: without checking signatures
 * @param minimal true: only as far as bug fixes and security require
 * @param obsoletes false: do not replace packages by those that obsolete them
 * @param setopt settings for dnf, `name=value`
 * @example tsalt-ssh '*' pkg.upgrade security=True exclude='kernel*'
 */
export const upgrade = async (options: UpgradeOptions = {}): Promise<PackageChanges> =>
  upgradeAll(options);

type UpgradeOptions = ManagerOptions & {
  /** this package only, or several with commas */
  name?: string | null;
};

const upgradeAll = upgrading(yum);

/**
 * Upgrades as `pkg.upgrade` does, without replacing packages by those that obsolete them.
 *
 * @param pkgs these packages only
 * @param refresh false: without fetching the repositories' data first
 * @param obsoletes true: replace packages by those that obsolete them
 * @example tsalt-ssh '*' pkg.update
 */
export const update = async ({
  obsoletes = false,
  ...options
}: UpgradeOptions = {}): Promise<PackageChanges> => upgradeAll({ ...options, obsoletes });

export const list_upgrades = listUpgrades(yum);

/** The other name of `pkg.list_upgrades`. */
export const list_updates = list_upgrades;

export const refresh_db = refreshDb(yum);

/** The other name of `pkg.refresh_db`. */
export const clean_metadata = refresh_db;

export const version_cmp = versionCmp(yum);
