/**
 * Packages of RedHat and its kin, by dnf or yum. Goes by the name `pkg`.
 *
 * @platform RedHat, Fedora, Amazon and their kin
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
 * Installs packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the repositories' data first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param disableexcludes whose excludes do not count: `main`, `all` or a repository
 * @param skip_verify true: without checking signatures
 * @param reinstall true: install what is installed again
 * @param downloadonly true: download only
 * @param update_holds true: held packages may be changed, and are held again afterwards
 * @param setopt settings for dnf, `name=value`
 * @param advisory_ids what these advisories name, instead of packages
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
 * Upgrades all packages, or some, and gives what changed. Further arguments go to dnf as they are:
 * `exclude='kernel*'`, `security=True`.
 *
 * @param pkgs these packages only
 * @param refresh false: without fetching the repositories' data first
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param skip_verify true: without checking signatures
 * @param minimal true: only as far as bug fixes and security need it
 * @param obsoletes false: packages that take the place of others do not do so
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
 * `pkg.upgrade` where packages that take the place of others do not do so.
 *
 * @param pkgs these packages only
 * @param refresh false: without fetching the repositories' data first
 * @param obsoletes true: packages may take the place of others
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
