import { CommandExecutionError, type Plain, type PlainDict } from '../../api.ts';
import { type IniRepo, listIniRepos, removeIniRepo, saveIniRepo } from '../../lib/ini-repos.ts';
import { runManager } from '../../lib/package-manager.ts';
import { toList } from '../../lib/values.ts';
import { yum } from '../../lib/yum.ts';

/** Where repositories are written down; `basedir` says otherwise. */
const foldersOf = (options: { basedir?: Plain }): string[] => {
  const named = toList(options.basedir);
  return named.length > 0 ? named : ['/etc/yum.repos.d', '/etc/yum/repos.d'];
};

/**
 * All repositories by id.
 *
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async (): Promise<{ [id: string]: IniRepo }> =>
  listIniRepos(foldersOf({}));

/**
 * A repository; an empty dict when it is not there.
 *
 * @param repo its id
 * @example tsalt-ssh '*' pkg.get_repo epel
 */
export const get_repo = async (
  repo: string,
  options: RepoOptions = {},
): Promise<IniRepo | Record<string, never>> => listIniRepos(foldersOf(options))[idOf(repo)] ?? {};

type RepoOptions = { basedir?: Plain; [other: string]: unknown };

const idOf = (repo: string): string =>
  repo.startsWith('copr:')
    ? `copr:copr.fedorainfracloud.org:${repo.slice('copr:'.length).replace('/', ':')}`
    : repo;

/** Arguments of `pkgrepo.managed` that are no settings of a repository. */
const noSettings = [
  'file',
  'clean_file',
  'refresh',
  'refresh_db',
  'key_url',
  'key_text',
  'keyid',
  'keyserver',
  'humanname',
  'saltenv',
  'disabled',
  'aptkey',
  'basedir',
];

/**
 * Adds or changes a repository and gives it.
 *
 * @param repo its id
 * @param name its name for people
 * @param baseurl its address
 * @param mirrorlist the address of its list of mirrors
 * @param enabled false: switched off
 * @param gpgcheck true: check signatures
 * @param gpgkey the address of its key
 * @param file the file it goes into when it is new
 * @example tsalt-ssh '*' pkg.mod_repo epel enabled=False
 */
export const mod_repo = async (
  repo: string,
  options: PlainDict = {},
): Promise<IniRepo | Record<string, never>> => {
  if (repo.startsWith('copr:')) {
    const { code, stderr } = await runManager(
      ['dnf', '-y', 'copr', 'enable', repo.slice('copr:'.length)],
      yum.locked,
    );
    if (code !== 0) throw new CommandExecutionError(stderr.trim());
    return get_repo(repo);
  }
  const settings: PlainDict = {};
  for (const [key, value] of Object.entries(options))
    if (!noSettings.includes(key) && value !== undefined) settings[key] = value;
  await saveIniRepo(
    foldersOf(options),
    repo,
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
    typeof options.file === 'string' ? options.file : null,
  );
  return get_repo(repo, options);
};

/**
 * Takes a repository away.
 *
 * @param repo its id
 * @example tsalt-ssh '*' pkg.del_repo epel
 */
export const del_repo = async (repo: string, options: RepoOptions = {}): Promise<string> =>
  removeIniRepo(foldersOf(options), idOf(repo));
