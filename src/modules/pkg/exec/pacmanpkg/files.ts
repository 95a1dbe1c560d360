import { fnmatch } from '../../../../data/python/glob.ts';
import { toList } from '../../../_shared/states/values.ts';
import { compareRpm } from '../../../_shared/text/package-version.ts';
import { type Plain, SaltInvocationError } from '../../../api.ts';
import { refreshWith } from '../../package-manager.ts';
import { pacman, runPacman } from '../../pacman.ts';

/** Lines of `package /path`, and pacman's error messages. */
const filesOf = async (
  packages: readonly string[],
): Promise<{ errors: string[]; files: [name: string, file: string][] }> => {
  const root = packages[0]?.startsWith('/') ? ['-r', packages[0]] : [];
  const names = packages.slice(root.length > 0 ? 1 : 0);
  const { stdout, stderr } = await runPacman('-Ql', ...root, '--', ...names);
  const files = stdout.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(' ');
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
  });
  return { errors: stderr.split('\n').filter(line => line.startsWith('error')), files };
};

/**
 * Lists the files of packages; of all packages if none is named.
 *
 * @param packages names of packages; before them the folder of another system
 * @example tsalt-ssh '*' pkg.file_list bash
 */
export const file_list = async (
  ...packages: string[]
): Promise<{ errors: string[]; files: string[] }> => {
  const { errors, files } = await filesOf(packages);
  return { errors, files: files.map(([, file]) => file) };
};

/**
 * Lists the files of packages, by package; of all packages if none is named.
 *
 * @param packages names of packages; before them the folder of another system
 * @example tsalt-ssh '*' pkg.file_dict bash
 */
export const file_dict = async (
  ...packages: string[]
): Promise<{ errors: string[]; packages: { [name: string]: string[] } }> => {
  const { errors, files } = await filesOf(packages);
  const found: { [name: string]: string[] } = {};
  for (const [name, file] of files) found[name] = [...(found[name] ?? []), file];
  return { errors, packages: found };
};

/**
 * Returns the package that a file belongs to; an empty string if there is none.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.owner /usr/bin/pacman
 */
export const owner = async (...paths: string[]): Promise<string | { [path: string]: string }> => {
  const owners: { [path: string]: string } = {};
  for (const path of paths) owners[path] = (await runPacman('-Qqo', '--', path)).stdout.trim();
  return paths.length <= 1 ? (owners[paths[0] ?? ''] ?? '') : owners;
};

/**
 * Lists the versions in the repositories.
 *
 * @param fromrepo these repositories only, with commas between them
 * @param byrepo true: by repository
 * @param refresh true: fetch the package lists first
 * @param names names of packages, or globs; by default all
 * @example tsalt-ssh '*' pkg.list_repo_pkgs 'samba*' fromrepo=extra
 */
export const list_repo_pkgs = async (
  {
    fromrepo = null,
    byrepo = false,
    refresh = false,
  }: { fromrepo?: Plain; byrepo?: boolean; refresh?: boolean },
  ...names: string[]
): Promise<{ [name: string]: string[] | { [name: string]: string[] } }> => {
  if (names.some(name => name.startsWith('-')))
    throw new SaltInvocationError('Names of packages do not start with a dash.');
  if (refresh) await refreshWith(pacman);
  const wanted = toList(fromrepo);
  const repos: { [repo: string]: { [name: string]: string[] } } = {};
  const all: { [name: string]: string[] } = {};
  for (const line of (await runPacman('-Sl')).stdout.split('\n')) {
    const [repo, name, version] = line.trim().split(/\s+/);
    if (!repo || !name || !version) continue;
    if (wanted.length > 0 && !wanted.includes(repo)) continue;
    if (names.length > 0 && !names.some(one => fnmatch(name, one))) continue;
    repos[repo] = { ...repos[repo], [name]: [version] };
    all[name] = [...(all[name] ?? []), version].sort((one, two) => compareRpm(two, one));
  }
  return byrepo ? repos : all;
};
