/**
 * Manages packages of Arch Linux, with pacman. Its virtual name is `pkg`.
 *
 * @platform Arch
 * @depends pacman
 */

import { which } from '../../../_shared/commands/which.ts';
import { __grains__ } from '../../../api.ts';
import {
  installing,
  latestVersion,
  listPkgs,
  listUpgrades,
  purging,
  refreshDb,
  removing,
  upgradeAvailable,
  upgrading,
  versionCmp,
  versionOf,
} from '../../package-functions.ts';
import { pacman } from '../../pacman.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Arch' && which('pacman')
    ? __virtualname__
    : [false, 'This is no Arch system with pacman.'];

export const list_pkgs = listPkgs(pacman);
export const version = versionOf(pacman);
export const latest_version = latestVersion(pacman);

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

export const upgrade_available = upgradeAvailable(pacman);
export const install = installing(pacman);
export const remove = removing(pacman);
export const purge = purging(pacman);
export const upgrade = upgrading(pacman);
export const list_upgrades = listUpgrades(pacman);
export const refresh_db = refreshDb(pacman);
export const version_cmp = versionCmp(pacman);
