import { messageOf } from '../../../../protocol/error.ts';
import { getOwn } from '../../../../protocol/plain.ts';
import { salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { compareVersions, currentPackages, desiredPackages } from '../../desired-packages.ts';
import { type DesiredPackages, fulfills, PackageError } from '../../packages.ts';

/**
 * Packages are removed; their configuration stays.
 *
 * @param name a package; not used when `pkgs` is given
 * @example
 * telnet:
 *   pkg.removed
 */
export const removed = async (name: string, options: RemovedOptions = {}): Promise<StateReturn> =>
  uninstall('remove', name, options);

/**
 * Packages are removed with their configuration.
 *
 * @param name a package; not used when `pkgs` is given
 * @example
 * apache2:
 *   pkg.purged
 */
export const purged = async (name: string, options: RemovedOptions = {}): Promise<StateReturn> =>
  uninstall('purge', name, options);

type RemovedOptions = {
  /** remove it only when it has this version */
  version?: Plain;
  /** a list of names and `{name: version}` */
  pkgs?: Plain;
  /** false: take architectures in names as written */
  normalize?: boolean;
  /** true: compare versions without epochs */
  ignore_epoch?: boolean | null;
  [other: string]: unknown;
};

const uninstall = async (
  action: 'remove' | 'purge',
  name: string,
  { version = null, pkgs = null, normalize = true, ignore_epoch = null, ...rest }: RemovedOptions,
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, `No packages to ${action} provided`);
  let targets: string[];
  let wanted: DesiredPackages;
  try {
    wanted = await desiredPackages({ name, version, pkgs, sources: null, normalize });
    const current = await currentPackages();
    const leftovers =
      action === 'purge'
        ? await salt('pkg.list_pkgs')({ versions_as_list: true, removed: true })
        : {};
    const matches = ([one, condition]: [string, string | null]): boolean => {
      const have = getOwn(current, one);
      return have
        ? condition === null ||
            fulfills(have, condition, compareVersions, { ignoreEpoch: ignore_epoch })
        : false;
    };
    const hasVersions = [...wanted].some(
      ([one, condition]) => condition !== null && getOwn(current, one),
    );
    targets = [...wanted].filter(matches).map(([one]) => one);
    targets.push(
      ...[...wanted.keys()].filter(one => Object.hasOwn(leftovers, one) && !targets.includes(one)),
    );
    targets.sort();
    if (targets.length === 0)
      return unchanged(
        name,
        action === 'purge'
          ? 'None of the targeted packages are installed or partially installed'
          : `All specified packages${hasVersions ? ' (matching specified versions)' : ''} are already absent`,
      );
  } catch (error) {
    return failed(name, messageOf(error));
  }
  if (__opts__.test)
    return would(
      name,
      `The following packages will be ${action}d: ${targets.join(', ')}.`,
      Object.fromEntries(targets.map(one => [one, { new: `${action}d`, old: '' }])),
    );
  let changes: PlainDict;
  try {
    const pkgs = targets.map(one => {
      const condition = wanted.get(one) ?? null;
      return condition === null ? one : { [one]: condition };
    });
    changes = await salt(`pkg.${action}`)(null, { ...rest, pkgs });
  } catch (error) {
    if (error instanceof PackageError) return failed(name, error.message, error.changes);
    return failed(
      name,
      `An error was encountered while ${action === 'purge' ? 'purging' : 'removing'} package(s): ${messageOf(error)}`,
    );
  }
  const now = await currentPackages();
  const left =
    action === 'purge'
      ? await salt('pkg.list_pkgs')({ versions_as_list: true, removed: true })
      : {};
  // If a package has several versions, the others stay.
  const isStillThere = (one: string): boolean => {
    const condition = wanted.get(one) ?? null;
    const options = { ignoreEpoch: ignore_epoch };
    const versions = getOwn(now, one);
    return condition === null || !versions
      ? versions !== undefined
      : fulfills(versions, condition, compareVersions, options);
  };
  const missed = targets.filter(one => isStillThere(one) || Object.hasOwn(left, one));
  if (missed.length > 0)
    return failed(
      name,
      `The following packages failed to ${action}: ${missed.join(', ')}.`,
      changes,
    );
  const absent = [...wanted.keys()].filter(one => !targets.includes(one)).sort();
  return changed(
    name,
    absent.length > 0
      ? `The following packages were not installed: ${absent.join(', ')} The following packages were ${action}d: ${targets.join(', ')}.`
      : `All targeted packages were ${action}d.`,
    changes,
  );
};
