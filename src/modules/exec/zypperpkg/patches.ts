import type { Downloaded } from '../../lib/downloaded-packages.ts';
import { runManager } from '../../lib/package-manager.ts';
import { downloadedRpms } from '../../lib/rpm.ts';
import { zypper, zypperLine } from '../../lib/zypper.ts';

type Patches = { [id: string]: { installed: boolean; summary: string } };

/**
 * The patches that the repositories know, and whether each is installed.
 *
 * @example tsalt-ssh '*' pkg.list_patches
 */
export const list_patches = async (): Promise<Patches> => {
  const { stdout } = await runManager(zypperLine('search', '-t', 'patch'), zypper.locked);
  return _parsePatches(stdout);
};

/** The table of `zypper search -t patch`: lines `i | name | summary | patch`. */
export const _parsePatches = (text: string): Patches =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [status = '', name = '', summary = '', type] = line.split('|').map(part => part.trim());
      return type === 'patch' ? [[name, { installed: /^i/i.test(status), summary }]] : [];
    }),
  );

/**
 * The patches that are installed.
 *
 * @example tsalt-ssh '*' pkg.list_installed_patches
 */
export const list_installed_patches = async (): Promise<Patches> =>
  Object.fromEntries(Object.entries(await list_patches()).filter(([, { installed }]) => installed));

/**
 * The package files that zypper has downloaded, by name and version.
 *
 * @example tsalt-ssh '*' pkg.list_downloaded
 */
export const list_downloaded = async (): Promise<Downloaded> =>
  downloadedRpms(['/var/cache/zypp/packages']);
