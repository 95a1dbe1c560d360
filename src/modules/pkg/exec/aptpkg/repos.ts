import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../../../api.ts';
import {
  type AptRepo,
  desiredRepo,
  findRepo,
  hasKey,
  type KeyOptions,
  listRepos,
  type RepoOptions,
  removeRepo,
  saveKey,
  saveRepo,
} from '../../apt-repos.ts';
import { refresh_db } from './refresh.ts';

/**
 * Lists all sources of packages, by address.
 *
 * @param disabled true: only those that are switched off
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async ({
  disabled = null,
}: {
  disabled?: boolean | null;
} = {}): Promise<{ [uri: string]: AptRepo[] }> => {
  const all: { [uri: string]: AptRepo[] } = {};
  for (const repo of listRepos())
    if (disabled === null || repo.disabled === disabled)
      all[repo.uri] = [...(all[repo.uri] ?? []), repo];
  return all;
};

/**
 * Returns a source of packages; an empty dict if it does not exist.
 *
 * @param repo its line, as in sources.list
 * @example tsalt-ssh '*' pkg.get_repo 'deb http://apt.example.com/debian bookworm main'
 */
export const get_repo = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<AptRepo | Record<string, never>> => findRepo(repo, options) ?? {};

type AptRepoOptions = RepoOptions &
  KeyOptions & {
    clean_file?: boolean;
    refresh?: boolean;
    refresh_db?: boolean;
    aptkey?: boolean;
    [other: string]: unknown;
  };

/**
 * Returns a source in the form in which it would be written.
 *
 * @param repo its line, as in sources.list
 * @param comps its components
 * @param architectures its architectures
 * @param disabled true: switched off
 * @example tsalt-ssh '*' pkg.expand_repo_def 'deb http://apt.example.com/debian bookworm main'
 */
export const expand_repo_def = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<AptRepo> => desiredRepo(repo, options);

/**
 * Adds or changes a source of packages and returns it, by its line.
 *
 * @param repo its line, as in sources.list
 * @param file the file for a new source; `.sources` for the newer format
 * @param comps its components
 * @param architectures its architectures
 * @param comments a comment for it
 * @param disabled true: switched off
 * @param key_url where its key is: `https://…`, `salt://…` or a path
 * @param key_text its key, armored
 * @param keyid the key's id, fetched from `keyserver` and checked
 * @param keyserver a key server
 * @param signedby the file of its key (`signed-by`)
 * @param clean_file true: empty `file` first
 * @param refresh false: do not fetch the package lists afterwards
 * @example tsalt-ssh '*' pkg.mod_repo 'deb http://apt.example.com/debian bookworm main' comps=main,contrib
 */
export const mod_repo = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<{ [repo: string]: AptRepo | Record<string, never> }> => {
  const wanted = desiredRepo(repo, options);
  if (options.key_text || options.key_url || options.keyid)
    if (!hasKey(wanted) || options.key_text || wanted.signedby === '')
      await saveKey(wanted, options);
  await saveRepo(repo, options);
  if (options.refresh !== false && options.refresh_db !== false) await refresh_db();
  return { [repo]: await get_repo(repo, options) };
};

/**
 * Removes a source of packages.
 *
 * @param repo its line, as in sources.list
 * @example tsalt-ssh '*' pkg.del_repo 'deb http://apt.example.com/debian bookworm main'
 */
export const del_repo = async (repo: string, options: AptRepoOptions = {}): Promise<string> => {
  const files = await removeRepo(repo);
  if (files.length === 0)
    throw new CommandExecutionError(`Repo ${repo} doesn't exist in the sources.list(s)`);
  if (options.refresh !== false) await refresh_db();
  return files
    .map(file =>
      existsSync(file)
        ? `Repo '${repo}' has been removed from ${file}.\n`
        : `File ${file} containing repo '${repo}' has been removed.`,
    )
    .join('');
};
