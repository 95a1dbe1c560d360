import { inRoot } from '../../../_shared/commands/other-root.ts';
import { xmlElements, xmlText } from '../../../_shared/text/xml-elements.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../../../api.ts';
import { type IniRepo, listIniRepos, saveIniRepo } from '../../ini-repos.ts';
import { changeByZypper } from '../../zypper-run.ts';

type RepoOptions = { root?: string | null; [other: string]: unknown };

const foldersIn = (root: string | null): string[] => [inRoot('/etc/zypp/repos.d', root)];

/** Formats a repository as Salt does: switches as booleans, `NONE` as null, with its alias. */
const shown = (alias: string, { file: _, comments: __, ...settings }: IniRepo): PlainDict => ({
  ...Object.fromEntries(
    Object.entries(settings).map(([key, value]): [string, Plain] => [
      key,
      value === '0' || value === '1' ? value === '1' : value === 'NONE' ? null : value,
    ]),
  ),
  alias,
});

/**
 * Lists all repositories by alias.
 *
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async ({
  root = null,
}: RepoOptions = {}): Promise<{
  [alias: string]: PlainDict;
}> =>
  Object.fromEntries(
    Object.entries(listIniRepos(foldersIn(root))).map(([alias, repo]) => [
      alias,
      shown(alias, repo),
    ]),
  );

/**
 * Returns a repository; an empty dict if it does not exist.
 *
 * @param repo its alias
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.get_repo repo-oss
 */
export const get_repo = async (
  repo: string,
  { root = null }: RepoOptions = {},
): Promise<PlainDict> => (await list_repos({ root }))[repo] ?? {};

/** Settings without an option of `zypper modifyrepo`. */
const written = ['repo_gpgcheck', 'pkg_gpgcheck', 'gpgkey', 'path', 'type'];

/**
 * Adds or changes a repository and returns it.
 *
 * @param repo its alias
 * @param name its name for people
 * @param baseurl its address; `url` and `mirrorlist` are other names of this argument
 * @param enabled false: switched off
 * @param refresh true: zypper refreshes its data automatically; `autorefresh` is another name
 * @param cache true: keep downloaded package files; `keeppackages` is another name
 * @param gpgcheck true: check signatures
 * @param gpgautoimport true: trust the repository's key
 * @param gpgkey the address of its key
 * @param priority its priority
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.mod_repo tools baseurl=https://example.com/tools
 */
export const mod_repo = async (repo: string, options: PlainDict = {}): Promise<PlainDict> => {
  const root = typeof options.root === 'string' ? options.root : null;
  const url = options.url ?? options.mirrorlist ?? options.baseurl ?? null;
  const before = await get_repo(repo, { root });
  const isNew = before.alias === undefined;
  const isMoved =
    !isNew &&
    typeof options.baseurl === 'string' &&
    plainAddress(options.baseurl) !== plainAddress(before.baseurl);
  if (isNew) await addRepo(repo, url, root);
  else if (isMoved) {
    await del_repo(repo, { root });
    await addRepo(repo, url, root);
  }
  // A repository that is added again keeps its settings, except those in the call.
  const wanted: PlainDict = isMoved ? { ...kept(before), ...options } : options;
  const changes = modifications(wanted);
  if (changes.length > 0) await changeByZypper({ root }, 'modifyrepo', ...changes, repo);
  const further = Object.entries(wanted).filter(
    ([key, value]) => written.includes(key) && value !== null && value !== undefined,
  );
  if (further.length > 0)
    await saveIniRepo(foldersIn(root), repo, Object.fromEntries(further), null);
  const trusting = options.gpgautoimport === true;
  if (trusting) await changeByZypper({ root, before: ['--gpg-auto-import-keys'] }, 'refresh', repo);
  const after = await get_repo(repo, { root });
  return isNew || isMoved || trusting || changes.length + further.length > 0
    ? after
    : { ...after, comment: 'Specified arguments did not result in modification of repo' };
};

/** Returns the settings of a repository with the names that `mod_repo` accepts. */
const kept = ({ autorefresh, keeppackages, ...settings }: PlainDict): PlainDict => ({
  ...settings,
  ...(autorefresh === undefined ? {} : { refresh: autorefresh }),
  cache: keeppackages ?? false,
});

/** zypper writes `file:/srv` for `file:///srv`, and ignores a slash at the end. */
const plainAddress = (address: Plain | undefined): string =>
  String(address ?? '')
    .replace(/^(file|dir):\/\/\//, '$1:/')
    .replace(/\/$/, '');

const addRepo = async (repo: string, url: Plain, root: string | null): Promise<void> => {
  if (!url)
    throw new CommandExecutionError(
      `Repository '${repo}' not found, and neither 'baseurl' nor 'mirrorlist' was specified`,
    );
  if (!/^[a-z][a-z0-9+.-]*:/i.test(String(url)))
    throw new CommandExecutionError(
      `Repository '${repo}' not found and URL for baseurl/mirrorlist is malformed`,
    );
  for (const [alias, { baseurl }] of Object.entries(await list_repos({ root })))
    if (baseurl && plainAddress(baseurl) === plainAddress(url))
      throw new CommandExecutionError(`Repository '${repo}' already exists as '${alias}'.`);
  await changeByZypper({ root }, 'addrepo', String(url), repo);
};

const modifications = (options: PlainDict): string[] => {
  const { refresh = options.autorefresh, cache = options.keeppackages } = options;
  const name = options.name ?? options.humanname;
  const choice = (value: Plain | undefined, on: string, off: string): string[] =>
    value === undefined || value === null ? [] : [value ? on : off];
  return [
    ...choice(options.enabled, '--enable', '--disable'),
    ...choice(refresh, '--refresh', '--no-refresh'),
    ...choice(cache, '--keep-packages', '--no-keep-packages'),
    ...choice(options.gpgcheck, '--gpgcheck', '--no-gpgcheck'),
    ...(options.priority === undefined || options.priority === null
      ? []
      : [`--priority=${String(options.priority)}`]),
    ...(name === undefined || name === null ? [] : ['--name', String(name)]),
  ];
};

/**
 * Removes a repository.
 *
 * @param repo its alias
 * @param root a folder with another system
 * @example tsalt-ssh '*' pkg.del_repo tools
 */
export const del_repo = async (
  repo: string,
  { root = null }: RepoOptions = {},
): Promise<PlainDict> => {
  if ((await get_repo(repo, { root })).alias === undefined)
    throw new CommandExecutionError(`Repository '${repo}' not found.`);
  const xml = await changeByZypper({ root }, 'removerepo', '--loose-auth', '--loose-query', repo);
  const message = xmlText(xmlElements(xml, 'message')[0]?.inner ?? '');
  return { [repo]: true, message };
};
