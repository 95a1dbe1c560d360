import { __opts__, CommandExecutionError, type Plain } from '../../../api.ts';
import { apt } from '../../apt-run.ts';
import { installedNow } from '../../dpkg-list.ts';
import {
  forgetPackages,
  type PackageChanges,
  PackageError,
  packageChanges,
  targetsOf,
} from '../../packages.ts';
import { refresh_db } from './refresh.ts';

/**
 * Upgrades all packages and returns the changes.
 *
 * @param refresh false: without fetching the package lists first
 * @param dist_upgrade true: `dist-upgrade`, which may remove packages
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param download_only true: download only
 * @param downloadonly another name of `download_only`
 * @param skip_verify true: install without checking signatures
 * @param force_conf_new true: take the packages' configuration files
 * @param force_yes true: also change held or essential packages, and downgrade
 * @param allow_downgrades true: older versions may replace newer ones
 * @param pkgs upgrade these packages only
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrade = async ({
  refresh = true,
  dist_upgrade = false,
  cache_valid_time = 0,
  download_only = false,
  downloadonly = download_only,
  skip_verify = false,
  force_conf_new = false,
  force_yes = false,
  allow_downgrades = force_yes,
  pkgs = null,
}: {
  refresh?: boolean;
  dist_upgrade?: boolean;
  cache_valid_time?: number;
  download_only?: boolean;
  downloadonly?: boolean;
  skip_verify?: boolean;
  force_conf_new?: boolean;
  force_yes?: boolean;
  allow_downgrades?: boolean;
  pkgs?: Plain;
  [other: string]: unknown;
} = {}): Promise<PackageChanges> => {
  if (refresh) await refresh_db({ cache_valid_time });
  const before = await installedNow();
  const conf = force_conf_new ? ['--force-confnew'] : ['--force-confold', '--force-confdef'];
  const some = pkgs === null ? [] : [...targetsOf(null, pkgs, undefined).keys()];
  const action =
    some.length > 0
      ? ['--only-upgrade', 'install', '--', ...some]
      : [dist_upgrade ? 'dist-upgrade' : 'upgrade'];
  const { code, stderr } = await apt([
    '-q',
    '-y',
    ...conf.flatMap(option => ['-o', `DPkg::Options::=${option}`]),
    ...(skip_verify ? ['--allow-unauthenticated'] : []),
    ...(downloadonly ? ['--download-only'] : []),
    ...(force_yes ? ['--allow-remove-essential', '--allow-change-held-packages'] : []),
    ...(allow_downgrades ? ['--allow-downgrades'] : []),
    ...action,
  ]);
  forgetPackages();
  const changes = packageChanges(before, await installedNow());
  if (code !== 0)
    throw new PackageError('Problem encountered upgrading packages', [stderr], changes);
  return changes;
};

/**
 * Lists the packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the package lists first
 * @param dist_upgrade false: those of a plain `upgrade`
 * @param fromrepo the release to upgrade to
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const list_upgrades = async ({
  refresh = true,
  dist_upgrade = true,
  fromrepo = null,
  cache_valid_time = 0,
}: {
  refresh?: boolean;
  dist_upgrade?: boolean;
  fromrepo?: string | null;
  cache_valid_time?: number;
  [other: string]: unknown;
} = {}): Promise<{ [name: string]: string }> => {
  if (refresh && !__opts__.test) await refresh_db({ cache_valid_time });
  const { code, stdout, stderr } = await apt([
    '--just-print',
    ...(fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : []),
    dist_upgrade ? 'dist-upgrade' : 'upgrade',
  ]);
  if (code !== 0)
    throw new CommandExecutionError(`Failed to get upgrades: ${stderr.trim() || stdout.trim()}`);
  return Object.fromEntries(
    [...stdout.matchAll(/^Conf (\S+) \((\S+)/gm)].map(match => [match[1] ?? '', match[2] ?? '']),
  );
};
