/**
 * Works with git repositories.
 *
 * @platform all
 * @depends git
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SaltInvocationError } from '../api.ts';
import { isDir } from '../lib/file-paths.ts';
import { git, gitText, plainWord } from '../lib/git-run.ts';
import { which } from '../lib/which.ts';
import { splitWords } from '../lib/words.ts';

type Common = { user?: string | null; identity?: string | string[] | null };

export const __virtual__ = (): true | [false, string] =>
  which('git') ? true : [false, 'git is not installed'];

const runOptions = (cwd: string | undefined, { user, identity }: Common) => ({
  cwd,
  user,
  identity: [identity ?? []].flat(),
});

/**
 * The version of git.
 *
 * @example tsalt-ssh '*' git.version
 */
export const version = async (): Promise<string> =>
  (await gitText(['--version'])).replace(/^git version (\S+).*$/s, '$1');

/**
 * Whether a directory is the top of a repository, bare or with a working tree.
 *
 * @param cwd the directory
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.is_repo /srv/app
 */
export const is_repo = async (cwd: string, { user = null }: Common = {}): Promise<boolean> => {
  if (!isDir(cwd)) return false;
  if (existsSync(join(cwd, '.git'))) return true;
  const result = await git(['rev-parse', '--is-bare-repository'], { cwd, user, ignore: true });
  return result.code === 0 && result.stdout.trim() === 'true' && existsSync(join(cwd, 'HEAD'));
};

/**
 * The commit that a revision stands for.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param short shorten it
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.revision /srv/app main
 */
export const revision = async (
  cwd: string,
  rev = 'HEAD',
  { short = false, user = null }: Common & { short?: boolean } = {},
): Promise<string> =>
  gitText(
    [
      'rev-parse',
      ...(short ? ['--short'] : []),
      '--verify',
      '--quiet',
      `${plainWord(rev, 'rev')}^{commit}`,
    ],
    { cwd, user },
  );

/**
 * The branch that is checked out; '' when HEAD is detached.
 *
 * @param cwd the repository
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.current_branch /srv/app
 */
export const current_branch = async (cwd: string, { user = null }: Common = {}): Promise<string> =>
  (
    await git(['symbolic-ref', '--quiet', '--short', 'HEAD'], { cwd, user, ignore: true })
  ).stdout.trim();

/**
 * Whether files that git knows were changed in the working tree.
 *
 * @param cwd the repository
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.has_changes /srv/app
 */
export const has_changes = async (cwd: string, { user = null }: Common = {}): Promise<boolean> =>
  (await gitText(['status', '--porcelain', '--untracked-files=no'], { cwd, user })) !== '';

/**
 * Clones a repository.
 *
 * @param cwd the directory to clone to
 * @param url the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 *
 * @example tsalt-ssh '*' git.clone /srv/app https://example.com/app.git
 */
export const clone = async (
  cwd: string,
  url: string,
  { opts = '', user = null, identity = null }: Common & { opts?: string } = {},
): Promise<boolean> => {
  await git(['clone', ...splitWords(opts), '--', url, cwd], runOptions('/', { user, identity }));
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
    user = null,
    identity = null,
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
  return (await git(args, runOptions(cwd, { user, identity }))).stderr.trim();
};

/**
 * The refs of a remote repository, with their commits.
 *
 * @param remote its URL
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 *
 * @example tsalt-ssh '*' git.ls_remote remote=https://example.com/app.git
 */
export const ls_remote = async ({
  remote,
  user = null,
  identity = null,
}: Common & { remote: string }): Promise<Record<string, string>> => {
  const text = await gitText(['ls-remote', '--', remote], runOptions('/', { user, identity }));
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
 * @param url the URL
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
 * Checks a revision out.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param force discard local changes
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.checkout /srv/app v1.2
 */
export const checkout = async (
  cwd: string,
  rev: string | null = null,
  { force = false, opts = '', user = null }: Common & { force?: boolean; opts?: string } = {},
): Promise<string> => {
  if (!rev && !opts)
    throw new SaltInvocationError("'rev' argument is required unless -b or -B in opts");
  const args = ['checkout', ...(force ? ['--force'] : []), ...splitWords(opts)];
  return (
    await git([...args, ...(rev ? [plainWord(rev, 'rev')] : []), '--'], { cwd, user })
  ).stderr.trim();
};

/**
 * Resets a branch, as `git reset`.
 *
 * @param cwd the repository
 * @param opts its options and the revision, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.reset /srv/app opts='--hard origin/main'
 */
export const reset = async (
  cwd: string,
  { opts = '', user = null }: Common & { opts?: string } = {},
): Promise<string> => gitText(['reset', ...splitWords(opts)], { cwd, user });

/**
 * Fetches and merges, as `git pull`.
 *
 * @param cwd the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 *
 * @example tsalt-ssh '*' git.pull /srv/app opts='--rebase origin main'
 */
export const pull = async (
  cwd: string,
  { opts = '', user = null, identity = null }: Common & { opts?: string } = {},
): Promise<string> => gitText(['pull', ...splitWords(opts)], runOptions(cwd, { user, identity }));

/**
 * Updates the submodules of a repository.
 *
 * @param cwd the repository
 * @param opts further options, as text
 * @param user run as this user
 * @param identity private key, or keys, to log in with
 *
 * @example tsalt-ssh '*' git.submodule_update /srv/app
 */
export const submodule_update = async (
  cwd: string,
  { opts = '', user = null, identity = null }: Common & { opts?: string } = {},
): Promise<string> =>
  gitText(
    ['submodule', 'update', '--init', '--recursive', ...splitWords(opts)],
    runOptions(cwd, { user, identity }),
  );

type ConfigOptions = Common & { cwd?: string | null; global?: boolean };

const configScope = ({ global, cwd, user }: ConfigOptions) => ({
  flags: [global ? '--global' : '--local'],
  options: { cwd: global ? '/' : (cwd ?? undefined), user },
});

/**
 * All values of a key of git's configuration.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_get_all user.name global=True
 */
export const config_get_all = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<string[]> => {
  const { flags, options } = configScope({ cwd, global, user });
  const { code, stdout } = await git(['config', ...flags, '--get-all', plainWord(key, 'key')], {
    ...options,
    ignore: true,
  });
  return code === 0 ? stdout.replace(/\n$/, '').split('\n') : [];
};

/**
 * The value of a key of git's configuration; null when it has none.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_get user.name cwd=/srv/app
 */
export const config_get = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<string | null> => (await config_get_all(key, { cwd, global, user })).at(-1) ?? null;

/**
 * Gives a key of git's configuration one value or several. Gives what it has then.
 *
 * @param key the key
 * @param value the value
 * @param multivar several values
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_set user.name Anna cwd=/srv/app
 */
export const config_set = async (
  key: string,
  {
    value = null,
    multivar = null,
    cwd = null,
    global = false,
    user = null,
  }: ConfigOptions & {
    value?: string | number | boolean | null;
    multivar?: (string | number)[] | null;
  } = {},
): Promise<string[]> => {
  const { flags, options } = configScope({ cwd, global, user });
  const values = (multivar ?? [value ?? '']).map(String);
  const [first = '', ...rest] = values;
  await git(['config', ...flags, '--replace-all', plainWord(key, 'key'), first], options);
  for (const each of rest) await git(['config', ...flags, '--add', key, each], options);
  return config_get_all(key, { cwd, global, user });
};

/**
 * Takes a key from git's configuration.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_unset core.editor cwd=/srv/app
 */
export const config_unset = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<boolean> => {
  const { flags, options } = configScope({ cwd, global, user });
  await git(['config', ...flags, '--unset-all', plainWord(key, 'key')], options);
  return true;
};
