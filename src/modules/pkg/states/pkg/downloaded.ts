import { messageOf } from '../../../../protocol/error.ts';
import { getOwn } from '../../../../protocol/plain.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { compareVersions, desiredPackages } from '../../desired-packages.ts';
import type { Downloaded } from '../../downloaded-packages.ts';
import { shownPackage } from '../../install-report.ts';
import { type DesiredPackages, fulfills, PackageError } from '../../packages.ts';

/**
 * The files of packages are downloaded, so that a later installation needs no network (apt, dnf,
 * yum, zypper).
 *
 * @param name a package; not used when `pkgs` is given
 * @param version a version, `1.2*`, `>=1.2` or `>=1.2,<2`
 * @param pkgs a list of names and `{name: version}`
 * @param fromrepo the repository or release to download from
 * @param ignore_epoch true: compare versions without epochs
 * @example
 * zsh:
 *   pkg.downloaded
 */
export const downloaded = async (
  name: string,
  {
    version = null,
    pkgs = null,
    fromrepo = null,
    ignore_epoch = null,
    ...rest
  }: {
    version?: Plain;
    pkgs?: Plain;
    fromrepo?: string | null;
    ignore_epoch?: boolean | null;
    [other: string]: unknown;
  } = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.list_downloaded'))
    return failed(name, 'The pkg.downloaded state is not available on this platform');
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, 'No packages to download provided');
  let wanted: DesiredPackages;
  let before: Downloaded;
  let targets: DesiredPackages;
  try {
    wanted = await desiredPackages({ name, version, pkgs, sources: null, normalize: true });
    before = await salt('pkg.list_downloaded')();
    targets = missingIn(before, wanted, ignore_epoch);
  } catch (error) {
    return failed(name, `An error was encountered while checking targets: ${messageOf(error)}`);
  }
  if (targets.size === 0) {
    const hasVersions = [...wanted.values()].some(one => one !== null);
    return unchanged(
      name,
      `All specified packages${hasVersions ? ' (matching specified versions)' : ''} are already downloaded`,
    );
  }
  const names = [...targets.keys()].join(', ');
  if (__opts__.test) return would(name, `The following packages would be downloaded: ${names}`);
  try {
    await salt('pkg.install')(null, {
      ...rest,
      pkgs: [...targets].map(([one, wish]) => ({ [one]: wish })),
      downloadonly: true,
      fromrepo,
      ignore_epoch,
    });
  } catch (error) {
    return failed(
      name,
      error instanceof PackageError
        ? error.message
        : `An error was encountered while downloading package(s): ${messageOf(error)}`,
    );
  }
  const after: Downloaded = await salt('pkg.list_downloaded')();
  const left = missingIn(after, targets, ignore_epoch);
  const changes = filesChanged(before, after);
  return left.size > 0
    ? failed(
        name,
        `The following packages failed to download: ${[...left.keys()].map(one => shownPackage(one, left)).join(', ')}`,
        changes,
      )
    : changed(name, `Packages downloaded: ${names}`, changes);
};

const missingIn = (
  have: Downloaded,
  wanted: DesiredPackages,
  ignoreEpoch: boolean | null,
): DesiredPackages =>
  new Map(
    [...wanted].filter(([name, version]) => {
      const versions = Object.keys(getOwn(have, name) ?? {});
      return (
        versions.length === 0 ||
        (version !== null && !fulfills(versions, version, compareVersions, { ignoreEpoch }))
      );
    }),
  );

const filesChanged = (before: Downloaded, after: Downloaded): PlainDict =>
  Object.fromEntries(
    Object.entries(after).flatMap(([name, versions]) => {
      const [old, fresh] = [getOwn(before, name) ?? {}, versions].map(one =>
        Object.keys(one).join(','),
      );
      return old === fresh ? [] : [[name, { old: old ?? '', new: fresh ?? '' }]];
    }),
  );
