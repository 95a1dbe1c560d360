import { getOwn } from '../../../../protocol/plain.ts';
import { compareDebian } from '../../../_shared/text/package-version.ts';
import { __opts__, SaltInvocationError } from '../../../api.ts';
import { apt, normalize, parseControl } from '../../apt-run.ts';
import { byEpoch, candidatesOf, readVersions } from '../../apt-versions.ts';
import { installedNow } from '../../dpkg-list.ts';
import { refresh_db } from './refresh.ts';

/**
 * Returns the newest available version; an empty string if it is already installed.
 *
 * @param refresh false: without fetching the package lists first
 * @param fromrepo the release to look in
 * @param show_installed true: the newest version even when it is installed
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latest_version = async (
  { refresh = true, fromrepo = null, show_installed = false, cache_valid_time = 0 }: LatestOptions,
  ...names: string[]
): Promise<string | { [name: string]: string }> => {
  if (names.length === 0) return '';
  if (refresh && !__opts__.test) await refresh_db({ cache_valid_time });
  const candidates = await candidatesOf(names, fromrepo);
  const list = await installedNow();
  const newest = names.map(name => {
    const candidate = candidates.get(name) ?? candidates.get(normalize(name)) ?? '';
    const have = getOwn(list, normalize(name)) ?? [];
    const upToDate =
      !show_installed && (candidate === '' || have.some(one => compareDebian(one, candidate) >= 0));
    return [name, have.length > 0 && upToDate ? '' : candidate] as const;
  });
  return newest.length === 1 ? (newest[0]?.[1] ?? '') : Object.fromEntries(newest);
};

type LatestOptions = {
  refresh?: boolean;
  fromrepo?: string | null;
  show_installed?: boolean;
  cache_valid_time?: number;
};

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

/**
 * Whether a newer version of a package is available.
 *
 * @param name a package
 * @param refresh true: fetch the package lists first
 * @example tsalt-ssh '*' pkg.upgrade_available nginx
 */
export const upgrade_available = async (
  name: string,
  { refresh = false }: { refresh?: boolean } = {},
): Promise<boolean> => (await latest_version({ refresh }, name)) !== '';

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 0.2.4-0ubuntu1 0.2.4.1-0ubuntu1
 */
export const version_cmp = async (
  pkg1: string,
  pkg2: string,
  { ignore_epoch = false }: { ignore_epoch?: boolean } = {},
): Promise<number> => Math.sign(byEpoch(String(pkg1), String(pkg2), ignore_epoch));

/**
 * A package's name without an architecture that is this system's own.
 *
 * @param name a package, maybe with `:arch`
 * @example tsalt-ssh '*' pkg.normalize_name zsh:amd64
 */
export const normalize_name = async (name: string): Promise<string> => normalize(name);

/**
 * A package's name and the architecture written behind it; null where there is none.
 *
 * @param name a package, maybe with `:arch`
 * @example tsalt-ssh '*' pkg.parse_arch zsh:i386
 */
export const parse_arch = async (name: string): Promise<{ name: string; arch: string | null }> => {
  const at = name.lastIndexOf(':');
  return at === -1 ? { name, arch: null } : { name: name.slice(0, at), arch: name.slice(at + 1) };
};

/**
 * All versions that the package sources offer, newest first.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.list_repo_pkgs nginx
 */
export const list_repo_pkgs = async (...names: string[]): Promise<{ [name: string]: string[] }> => {
  if (names.length === 0)
    throw new SaltInvocationError('pkg.list_repo_pkgs needs at least one name.');
  return Object.fromEntries(await readVersions(names));
};

/**
 * Returns the data of the package sources about packages, by name and version.
 *
 * @param filter these fields only: a list, or names with commas between them
 * @param refresh true: fetch the package lists first
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.show nginx filter=depends,size
 */
export const show = async (
  { filter = [], refresh = false }: { filter?: string[] | string; refresh?: boolean },
  ...names: string[]
): Promise<{ [name: string]: { [version: string]: { [field: string]: string } } }> => {
  if (refresh) await refresh_db();
  if (names.length === 0) return {};
  const wanted = [filter].flat().flatMap(part => part.toLowerCase().split(','));
  const isWanted = (field: string): boolean =>
    wanted.length === 0 || wanted.includes(field.toLowerCase());
  const { stdout } = await apt(['show', '--', ...names], { program: 'apt-cache' });
  const all: { [name: string]: { [version: string]: { [field: string]: string } } } = {};
  for (const { Package: name = '', Version: number = '', ...fields } of parseControl(stdout)) {
    const shown = Object.entries(fields).filter(([field]) => isWanted(field));
    all[name] = { ...all[name], [number]: Object.fromEntries(shown) };
  }
  return all;
};
