import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { currentPackages } from '../../desired-packages.ts';
import { PackageError, parsePackageArguments } from '../../packages.ts';

/**
 * All packages, or those named, are upgraded.
 *
 * @param name any name
 * @param refresh true: fetch the package lists first
 * @param pkgs upgrade these only
 * @param dist_upgrade true: packages may be removed for it
 * @param fromrepo the release to upgrade to
 * @example
 * everything:
 *   pkg.uptodate:
 *     - refresh: true
 */
export const uptodate = async (
  name: string,
  {
    refresh = false,
    pkgs = null,
    ...rest
  }: { refresh?: boolean; pkgs?: Plain; [other: string]: unknown } = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.list_upgrades')) return failed(name, 'State pkg.uptodate is not available');
  if (typeof refresh !== 'boolean') return failed(name, 'refresh must be either True or False');
  const some = pkgs === null ? null : [...parsePackageArguments(pkgs).keys()];
  let expected: [string, { old: string; new: string }][];
  try {
    const upgrades: { [name: string]: string } = await salt('pkg.list_upgrades')({
      ...rest,
      refresh: refresh && !__opts__.test,
    });
    const current = await currentPackages();
    expected = Object.entries(upgrades)
      .filter(([one]) => some === null || some.includes(one))
      .map(([one, version]) => [one, { old: current[one]?.join(',') ?? '', new: version }]);
  } catch (error) {
    return failed(name, messageOf(error));
  }
  if (expected.length === 0) return unchanged(name, 'System is already up-to-date');
  if (__opts__.test)
    return would(name, 'System update will be performed', Object.fromEntries(expected));
  let changes: PlainDict;
  try {
    changes = await salt('pkg.upgrade')({ ...rest, refresh: false, pkgs: some });
  } catch (error) {
    if (error instanceof PackageError) return failed(name, error.message, error.changes);
    return failed(name, `An error was encountered while updating packages: ${messageOf(error)}`);
  }
  const missed = some === null ? [] : expected.map(([one]) => one).filter(one => !changes[one]);
  return missed.length > 0
    ? failed(name, `The following package(s) failed to update: ${missed.join(', ')}`, changes)
    : changed(name, 'Upgrade ran successfully', changes);
};
