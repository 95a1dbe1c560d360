/**
 * Packages of RedHat and its kin, by dnf or yum. Goes by the name `pkg`.
 *
 * @platform RedHat, Fedora, Amazon and their kin
 * @depends dnf or yum, rpm
 */
import { __grains__ } from '../../api.ts';
import {
  latestVersion,
  listPkgs,
  listUpgrades,
  purging,
  refreshDb,
  removing,
  upgrading,
  versionCmp,
  versionOf,
} from '../../lib/package-functions.ts';
import { installWith, type ManagerOptions } from '../../lib/package-manager.ts';
import type { PackageChanges } from '../../lib/packages.ts';
import { which } from '../../lib/which.ts';
import { yum } from '../../lib/yum.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'RedHat' && (which('dnf') ?? which('yum'))
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
 * @param skip_verify true: without checking signatures
 * @param reinstall true: install what is installed again
 * @param downloadonly true: download only
 * @param update_holds true: held packages may be changed
 * @param setopt settings for dnf, `name=value`
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const install = async (
  name: string | null = null,
  options: ManagerOptions = {},
): Promise<PackageChanges> => installWith(yum, name, options);

export const list_pkgs = listPkgs(yum);

export const version = versionOf(yum);

export const latest_version = latestVersion(yum);

export const remove = removing(yum);

export const purge = purging(yum);

export const upgrade = upgrading(yum);

export const list_upgrades = listUpgrades(yum);

export const refresh_db = refreshDb(yum);

export const version_cmp = versionCmp(yum);
