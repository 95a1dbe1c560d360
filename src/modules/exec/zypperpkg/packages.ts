/**
 * Packages of SUSE, by zypper. Goes by the name `pkg`.
 *
 * @platform SUSE
 * @depends zypper, rpm
 */
import { __grains__ } from '../../api.ts';
import {
  installing,
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
import { which } from '../../lib/which.ts';
import { zypper } from '../../lib/zypper.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Suse' && which('zypper')
    ? __virtualname__
    : [false, 'This is no SUSE system with zypper.'];

export const list_pkgs = listPkgs(zypper);
export const version = versionOf(zypper);
export const latest_version = latestVersion(zypper);
export const install = installing(zypper);
export const remove = removing(zypper);
export const purge = purging(zypper);
export const upgrade = upgrading(zypper);
export const list_upgrades = listUpgrades(zypper);
export const refresh_db = refreshDb(zypper);
export const version_cmp = versionCmp(zypper);
