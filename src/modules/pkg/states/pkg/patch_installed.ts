import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { toList } from '../../../_shared/states/values.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { PackageError } from '../../packages.ts';

type PatchOptions = {
  advisory_ids?: Plain;
  downloadonly?: boolean | null;
  [other: string]: unknown;
};

/**
 * The packages of advisories are installed (dnf, yum, zypper).
 *
 * @param name an advisory; not used when `advisory_ids` is given
 * @param advisory_ids a list of advisories
 * @param downloadonly true: only downloaded
 * @example
 * security:
 *   pkg.patch_installed:
 *     - advisory_ids: [RHSA-2024:1234]
 */
export const patch_installed = async (
  name: string,
  { advisory_ids = null, downloadonly = null, ...rest }: PatchOptions = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.list_patches'))
    return failed(name, 'The pkg.patch_installed state is not available on this platform');
  if (Array.isArray(advisory_ids) && advisory_ids.length === 0)
    return unchanged(name, 'No advisory ids provided');
  let targets: string[];
  try {
    const done = await salt('pkg.list_installed_patches')();
    targets = toList(advisory_ids ?? [name]).filter(id => !(id in done));
  } catch (error) {
    return failed(name, `An error was encountered while checking targets: ${messageOf(error)}`);
  }
  if (targets.length === 0)
    return unchanged(
      name,
      advisory_ids === null
        ? `Advisory patch ${name} is already installed`
        : 'All specified advisory patches are already installed',
    );
  if (__opts__.test)
    return would(name, `The following advisory patches would be downloaded: ${targets.join(', ')}`);
  let changes: PlainDict;
  try {
    changes = await salt('pkg.install')(null, {
      ...rest,
      advisory_ids: targets,
      downloadonly: downloadonly === true,
    });
  } catch (error) {
    return error instanceof PackageError
      ? failed(name, error.message, error.changes)
      : failed(name, `An error was encountered while downloading package(s): ${messageOf(error)}`);
  }
  return Object.keys(changes).length > 0
    ? changed(name, `Advisory patches installed: ${targets.join(', ')}`, changes)
    : unchanged(
        name,
        `Advisory patch is not needed or related packages are already ${downloadonly ? 'downloaded' : 'installed'}`,
      );
};

/**
 * The packages of advisories are downloaded (dnf, yum, zypper).
 *
 * @param name an advisory; not used when `advisory_ids` is given
 * @param advisory_ids a list of advisories
 * @example
 * security:
 *   pkg.patch_downloaded:
 *     - advisory_ids: [RHSA-2024:1234]
 */
export const patch_downloaded = async (
  name: string,
  { advisory_ids = null, ...rest }: { advisory_ids?: Plain; [other: string]: unknown } = {},
): Promise<StateReturn> =>
  hasFunction('pkg.list_patches')
    ? patch_installed(name, { ...rest, advisory_ids, downloadonly: true })
    : failed(name, 'The pkg.patch_downloaded state is not available on this platform');
