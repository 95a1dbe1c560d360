import { type Common, git, gitText, plainWord, runOptions } from '../../lib/git-run.ts';
import { splitWords } from '../../lib/words.ts';

/**
 * Clones a repository.
 *
 * @param cwd the directory to clone to
 * @param url the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.clone /srv/app https://example.com/app.git
 */
export const clone = async (
  cwd: string,
  url: string,
  { opts = '', ...login }: Common & { opts?: string } = {},
): Promise<boolean> => {
  await git(['clone', ...splitWords(opts), '--', url, cwd], runOptions('/', login, url));
  return true;
};

/**
 * Fetches from a remote. Gives what git says.
 *
 * @param cwd the repository
 * @param remote the remote
 * @param refspecs what to fetch
 * @param force also what is no fast-forward
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.fetch /srv/app upstream
 */
export const fetch = async (
  cwd: string,
  {
    remote = null,
    refspecs = [],
    force = false,
    opts = '',
    ...login
  }: Common & {
    remote?: string | null;
    refspecs?: string | string[];
    force?: boolean;
    opts?: string;
  } = {},
): Promise<string> => {
  const what = remote
    ? [plainWord(remote, 'remote'), ...[refspecs].flat().map(ref => plainWord(ref, 'refspec'))]
    : [];
  const args = ['fetch', ...(force ? ['--force'] : []), ...splitWords(opts), ...what];
  const url = await loginUrl(cwd, login, remote);
  return (await git(args, runOptions(cwd, login, url))).stderr.trim();
};

/**
 * The refs of a remote repository, with their commits.
 *
 * @param remote its URL
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.ls_remote remote=https://example.com/app.git
 */
export const ls_remote = async ({
  remote,
  ...login
}: Common & { remote: string }): Promise<Record<string, string>> => {
  const text = await gitText(['ls-remote', '--', remote], runOptions('/', login, remote));
  return Object.fromEntries(
    text
      .split('\n')
      .map(line => line.split('\t'))
      .flatMap(([sha = '', ref]) => (ref === undefined ? [] : [[ref, sha]])),
  );
};

/**
 * The remotes of a repository with their URLs.
 *
 * @param cwd the repository
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.remotes /srv/app
 */
export const remotes = async (
  cwd: string,
  { user = null }: Common = {},
): Promise<Record<string, { fetch: string; push: string }>> => {
  const found: Record<string, { fetch: string; push: string }> = {};
  for (const line of (await gitText(['remote', '--verbose'], { cwd, user })).split('\n')) {
    const [, name, url = '', kind] = line.match(/^(\S+)\t(.+) \((fetch|push)\)/) ?? [];
    if (name === undefined) continue;
    const known = found[name] ?? { fetch: '', push: '' };
    found[name] = { ...known, [kind ?? 'fetch']: url };
  }
  return found;
};

/**
 * Points a remote at a URL; adds it when it is missing.
 *
 * @param cwd the repository
 * @param url the URL; a password in it is not written into the repository
 * @param remote the remote
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.remote_set /srv/app https://example.com/app.git
 */
export const remote_set = async (
  cwd: string,
  url: string,
  { remote = 'origin', user = null }: Common & { remote?: string } = {},
): Promise<boolean> => {
  const known = Object.hasOwn(await remotes(cwd, { user }), remote);
  await git(['remote', known ? 'set-url' : 'add', '--', plainWord(remote, 'remote'), url], {
    cwd,
    user,
  });
  return true;
};

/**
 * Fetches and merges, as `git pull`.
 *
 * @param cwd the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.pull /srv/app opts='--rebase origin main'
 */
export const pull = async (
  cwd: string,
  { opts = '', ...login }: Common & { opts?: string } = {},
): Promise<string> =>
  gitText(['pull', ...splitWords(opts)], runOptions(cwd, login, await loginUrl(cwd, login)));

/**
 * Updates the submodules of a repository.
 *
 * @param cwd the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.submodule_update /srv/app
 */
export const submodule_update = async (
  cwd: string,
  { opts = '', ...login }: Common & { opts?: string } = {},
): Promise<string> =>
  gitText(
    ['submodule', 'update', '--init', '--recursive', ...splitWords(opts)],
    runOptions(cwd, login, await loginUrl(cwd, login)),
  );

/** What a repository's remote is, where somebody logs in to it. */
const loginUrl = async (
  cwd: string,
  { https_user, https_pass, user }: Common,
  remote: string | null = null,
): Promise<string | undefined> => {
  if (!https_user && !https_pass) return undefined;
  const known = (await remotes(cwd, { user: user ?? null }))[remote ?? 'origin'];
  return known?.fetch ?? remote ?? undefined;
};

/**
 * Sends commits to a remote.
 *
 * @param cwd the repository
 * @param remote the remote
 * @param ref what to send: `main`, `main:other`, `:gone`
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 * @param https_user name to log in with, over https
 * @param https_pass its password
 *
 * @example tsalt-ssh '*' git.push /srv/etc origin main
 */
export const push = async (
  cwd: string,
  remote: string,
  ref: string,
  { opts = '', ...login }: Common & { opts?: string } = {},
): Promise<string> => {
  const args = [
    'push',
    '--porcelain',
    ...splitWords(opts),
    plainWord(remote, 'remote'),
    plainWord(ref, 'ref'),
  ];
  return gitText(args, runOptions(cwd, login, await loginUrl(cwd, login, remote)));
};
