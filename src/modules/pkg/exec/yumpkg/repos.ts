import { readOr } from '../../../_shared/files/read-file.ts';
import { toList } from '../../../_shared/states/values.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';
import { type IniRepo, listIniRepos, removeIniRepo, saveIniRepo } from '../../ini-repos.ts';
import { runYum, yumProgram } from '../../yum-run.ts';

type RepoOptions = { basedir?: Plain; [other: string]: unknown };

/**
 * Returns the folders of repository files: those of `basedir`, or of the configuration of dnf or
 * yum.
 */
const foldersOf = (options: RepoOptions): string[] => {
  const named = toList(options.basedir);
  if (named.length > 0) return named;
  const conf = ['/etc/yum/yum.conf', '/etc/yum.conf', '/etc/dnf/dnf.conf'].map(readOr);
  const set = /^\s*reposdir\s*[=:]\s*(.+)$/m.exec(conf.find(one => one !== undefined) ?? '')?.[1];
  return set ? toList(set) : ['/etc/yum.repos.d', '/etc/yum/repos.d'];
};

/**
 * Lists all repositories by id, each with its settings, its `comments` and its `file`.
 *
 * @param basedir folders of `.repo` files, instead of those that dnf or yum is configured for
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async (options: RepoOptions = {}): Promise<{ [id: string]: IniRepo }> =>
  listIniRepos(foldersOf(options));

/**
 * Returns a repository; an empty dict if it does not exist.
 *
 * @param repo its id
 * @param basedir folders of `.repo` files, instead of those that dnf or yum is configured for
 * @example tsalt-ssh '*' pkg.get_repo epel
 */
export const get_repo = async (repo: string, options: RepoOptions = {}): Promise<PlainDict> => {
  const { file: _, ...settings } = listIniRepos(foldersOf(options))[idOf(repo)] ?? { file: '' };
  return settings;
};

const idOf = (repo: string): string =>
  repo.startsWith('copr:')
    ? `copr:copr.fedorainfracloud.org:${repo.slice('copr:'.length).replace('/', ':')}`
    : repo;

/** Arguments of `pkgrepo.managed` that are not settings of a repository. */
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
  'strict_config',
];

/**
 * Adds or changes a repository. An empty setting is removed.
 *
 * @param repo its id, or `copr:OWNER/NAME`
 * @param name its name for people; required for a new one
 * @param baseurl its address
 * @param mirrorlist the address of its list of mirrors, instead of `baseurl`
 * @param metalink the address of its metalink, instead of `baseurl`
 * @param enabled false: switched off
 * @param gpgcheck true: check signatures
 * @param gpgkey the address of its key
 * @param comments comments for it
 * @param file the file for a new repository
 * @param basedir folders of `.repo` files, instead of those that dnf or yum is configured for
 * @returns the file that contains it, with all repositories in that file
 * @example tsalt-ssh '*' pkg.mod_repo epel enabled=False
 */
export const mod_repo = async (
  repo: string,
  options: PlainDict = {},
): Promise<{ [file: string]: { [id: string]: PlainDict } }> => {
  if (isFilled(options.mirrorlist) && isFilled(options.baseurl))
    throw new SaltInvocationError("Only one of 'mirrorlist' and 'baseurl' can be specified");
  const folders = foldersOf(options);
  const id = idOf(repo);
  if (repo.startsWith('copr:') && !listIniRepos(folders)[id])
    await enableCopr(repo.slice('copr:'.length));
  const before = listIniRepos(folders)[id];
  const settings = settingsOf(options);
  checkSettings(settings, before);
  const file = typeof options.file === 'string' ? options.file : null;
  await saveIniRepo(folders, id, settings, file);
  const all = listIniRepos(folders);
  const path = all[id]?.file ?? '';
  const inFile = Object.entries(all).filter(([, one]) => one.file === path);
  return {
    [path]: Object.fromEntries(inFile.map(([one, { file: _, ...rest }]) => [one, rest])),
  };
};

const isFilled = (value: Plain | undefined): boolean =>
  value === false || value === 0 || Boolean(value);

const enableCopr = async (project: string): Promise<void> => {
  const { code, stderr } = await runYum('copr', 'enable', project, '-y');
  if (/no such command: copr/i.test(stderr))
    throw new SaltInvocationError(
      `${yumProgram() === 'dnf' ? 'dnf-plugins-core' : 'yum-plugin-copr'} must be installed to use COPR`,
    );
  if (code !== 0)
    throw new CommandExecutionError(
      `Unable to add COPR '${project}'. '${yumProgram()}' exited with status ${code}: '${stderr.trim()}'`,
    );
};

/**
 * Returns the settings to write; null for those to remove. A new address replaces those of other
 * kinds.
 */
const settingsOf = (options: PlainDict): PlainDict => {
  const settings: PlainDict = {};
  for (const [key, value] of Object.entries(options))
    if (!noSettings.includes(key) && value !== undefined)
      settings[key] = isFilled(value) ? value : null;
  if (isFilled(settings.mirrorlist)) settings.baseurl = null;
  else if (isFilled(settings.baseurl)) settings.mirrorlist = null;
  return settings;
};

const checkSettings = (settings: PlainDict, before: IniRepo | undefined): void => {
  if (settings.name === null) throw new SaltInvocationError('The repo name cannot be deleted');
  const has = (key: string): boolean =>
    key in settings ? settings[key] !== null : before?.[key] !== undefined;
  if (!before && !has('name'))
    throw new SaltInvocationError(
      'The repo does not exist and needs to be created, but a name was not given',
    );
  if (has('baseurl') || has('mirrorlist') || has('metalink')) return;
  if (!before)
    throw new SaltInvocationError(
      'The repo does not exist and needs to be created, but either a baseurl or a mirrorlist needs to be given',
    );
  const [gone, other] =
    before.baseurl === undefined ? ['mirrorlist', 'baseurl'] : ['baseurl', 'mirrorlist'];
  throw new SaltInvocationError(`Cannot delete ${gone} without specifying ${other}`);
};

/**
 * Removes a repository; its file is removed with the last repository in it.
 *
 * @param repo its id
 * @param basedir folders of `.repo` files, instead of those that dnf or yum is configured for
 * @example tsalt-ssh '*' pkg.del_repo epel
 */
export const del_repo = async (repo: string, options: RepoOptions = {}): Promise<string> =>
  removeIniRepo(foldersOf(options), idOf(repo));
