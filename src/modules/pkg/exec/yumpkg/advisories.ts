import type { Downloaded } from '../../downloaded-packages.ts';
import { refreshWith } from '../../package-manager.ts';
import { downloadedRpms } from '../../rpm.ts';
import { yum } from '../../yum.ts';
import { type Patches, parseUpdateInfo } from '../../yum-offers.ts';
import { runYum } from '../../yum-run.ts';

/**
 * Lists the advisories of the repositories: whether each is fully installed, and its packages.
 *
 * @param refresh true: fetch the repositories' data first
 * @example tsalt-ssh '*' pkg.list_patches
 */
export const list_patches = async ({
  refresh = false,
}: {
  refresh?: boolean;
  [other: string]: unknown;
} = {}): Promise<Patches> => {
  if (refresh) await refreshWith(yum);
  return parseUpdateInfo((await runYum('--quiet', 'updateinfo', 'list', 'all')).stdout);
};

/**
 * Lists the advisories that are fully installed.
 *
 * @example tsalt-ssh '*' pkg.list_installed_patches
 */
export const list_installed_patches = async (): Promise<Patches> =>
  Object.fromEntries(Object.entries(await list_patches()).filter(([, { installed }]) => installed));

/**
 * The package files that dnf or yum has downloaded, by name and version.
 *
 * @example tsalt-ssh '*' pkg.list_downloaded
 */
export const list_downloaded = async (): Promise<Downloaded> =>
  downloadedRpms(['/var/cache/dnf', '/var/cache/yum', '/var/cache/libdnf5']);
