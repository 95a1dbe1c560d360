import { inRoot } from '../../../_shared/commands/other-root.ts';
import { xmlElements } from '../../../_shared/text/xml-elements.ts';
import type { Downloaded } from '../../downloaded-packages.ts';
import { refreshWith } from '../../package-manager.ts';
import { downloadedRpms } from '../../rpm.ts';
import { rpm } from '../../rpm-run.ts';
import { zypper } from '../../zypper.ts';
import { readZypper } from '../../zypper-run.ts';

type Summaries = { [id: string]: { installed: boolean; summary: string } };

type Options = { refresh?: boolean; root?: string | null; [other: string]: unknown };

/** Returns the results of `zypper search -t KIND`, and whether each is installed. */
const summariesOf = async (kind: string, { refresh, root = null }: Options): Promise<Summaries> => {
  if (refresh) await refreshWith(zypper, { root });
  return _parseSolvables(await readZypper(root, 'search', '-t', kind));
};

export const _parseSolvables = (xml: string): Summaries =>
  Object.fromEntries(
    xmlElements(xml, 'solvable').map(({ attributes: { name = '', status, summary = '' } }) => [
      name,
      { installed: status === 'installed', summary },
    ]),
  );

const installedOf = (found: Summaries): Summaries =>
  Object.fromEntries(Object.entries(found).filter(([, { installed }]) => installed));

/**
 * Lists the patches of the repositories, and whether each is installed.
 *
 * @param refresh true: fetch the repositories' data first
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_patches
 */
export const list_patches = async (options: Options = {}): Promise<Summaries> =>
  summariesOf('patch', options);

/**
 * Lists the installed patches.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_installed_patches
 */
export const list_installed_patches = async (options: Options = {}): Promise<Summaries> =>
  installedOf(await summariesOf('patch', options));

/**
 * Lists the patterns of the repositories, and whether each is installed.
 *
 * @param refresh true: fetch the repositories' data first
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_patterns
 */
export const list_patterns = async (options: Options = {}): Promise<Summaries> =>
  summariesOf('pattern', options);

/**
 * Lists the installed patterns, including those that zypper hides.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_installed_patterns
 */
export const list_installed_patterns = async (options: Options = {}): Promise<Summaries> => {
  const { stdout } = await rpm(['-q', '--provides', '--whatprovides', 'pattern()'], options.root);
  const hidden = [...stdout.matchAll(/^pattern\(\) = ([^.\s]\S*)/gm)].map(([, name = '']) => [
    name,
    { installed: true, summary: 'Non-visible pattern' },
  ]);
  return {
    ...Object.fromEntries(hidden),
    ...installedOf(await summariesOf('pattern', { root: options.root ?? null })),
  };
};

/**
 * The package files that zypper has downloaded, by name and version.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_downloaded
 */
export const list_downloaded = async ({ root = null }: Options = {}): Promise<Downloaded> =>
  downloadedRpms([inRoot('/var/cache/zypp/packages', root)]);
