import type { Downloaded } from '../../lib/downloaded-packages.ts';
import { runManager } from '../../lib/package-manager.ts';
import { downloadedRpms } from '../../lib/rpm.ts';
import { yum, yumProgram } from '../../lib/yum.ts';

type Patches = { [id: string]: { installed: boolean; summary: string[] } };

/**
 * The advisories that the repositories know: whether all of each is installed, and its packages.
 *
 * @example tsalt-ssh '*' pkg.list_patches
 */
export const list_patches = async (): Promise<Patches> => {
  const argv: [string, ...string[]] = [yumProgram(), '--quiet', 'updateinfo', 'list', 'all'];
  return _parseUpdateInfo((await runManager(argv, yum.locked)).stdout);
};

/** Lines of `i ADVISORY severity package`, without the `i` for what is not installed. */
export const _parseUpdateInfo = (text: string): Patches => {
  const patches: Patches = {};
  for (const line of text.split('\n')) {
    const match = /^(i?)\s+(\S+)\s+(\S+)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const [, mark, id = '', , name = ''] = match;
    const known = patches[id] ?? { installed: true, summary: [] };
    patches[id] = {
      installed: known.installed && mark === 'i',
      summary: [...known.summary, name],
    };
  }
  return patches;
};

/**
 * The advisories of which all is installed.
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
