import type { PlainDict } from '../../api.ts';
import { type IniRepo, listIniRepos, removeIniRepo, saveIniRepo } from '../../lib/ini-repos.ts';

const folders = ['/etc/zypp/repos.d'];

/**
 * All repositories by alias.
 *
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async (): Promise<{ [id: string]: IniRepo }> => listIniRepos(folders);

/**
 * A repository; an empty dict when it is not there.
 *
 * @param repo its alias
 * @example tsalt-ssh '*' pkg.get_repo repo-oss
 */
export const get_repo = async (
  repo: string,
  { root = '' }: RepoOptions = {},
): Promise<IniRepo | Record<string, never>> => listIniRepos(foldersIn(root))[repo] ?? {};

type RepoOptions = { root?: string; [other: string]: unknown };

const foldersIn = (root: string): string[] => folders.map(folder => `${root}${folder}`);

const settings = [
  'name',
  'baseurl',
  'mirrorlist',
  'enabled',
  'autorefresh',
  'priority',
  'gpgcheck',
  'repo_gpgcheck',
  'pkg_gpgcheck',
  'gpgkey',
  'type',
  'path',
  'keeppackages',
];

/**
 * Adds or changes a repository and gives it.
 *
 * @param repo its alias
 * @param name its name for people
 * @param baseurl its address
 * @param enabled false: switched off
 * @param autorefresh true: fetch its data by itself
 * @param gpgcheck true: check signatures
 * @param gpgkey the address of its key
 * @param priority its priority
 * @example tsalt-ssh '*' pkg.mod_repo tools baseurl=https://example.com/tools
 */
export const mod_repo = async (
  repo: string,
  options: PlainDict = {},
): Promise<IniRepo | Record<string, never>> => {
  const root = typeof options.root === 'string' ? options.root : '';
  const given = Object.entries(options).filter(
    ([key, value]) => settings.includes(key) && value !== null && value !== undefined,
  );
  await saveIniRepo(
    foldersIn(root),
    repo,
    Object.fromEntries(given),
    typeof options.file === 'string' ? options.file : null,
  );
  return get_repo(repo, { root });
};

/**
 * Takes a repository away.
 *
 * @param repo its alias
 * @example tsalt-ssh '*' pkg.del_repo tools
 */
export const del_repo = async (repo: string, { root = '' }: RepoOptions = {}): Promise<string> =>
  removeIniRepo(foldersIn(root), repo);
