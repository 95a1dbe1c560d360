/**
 * Works with git repositories.
 *
 * @platform all
 * @depends git
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDir } from '../../lib/file-paths.ts';
import { type Common, git, gitText, plainWord } from '../../lib/git-run.ts';
import { which } from '../../lib/which.ts';
import { splitWords } from '../../lib/words.ts';

export const __virtual__ = (): true | [false, string] =>
  which('git') ? true : [false, 'git is not installed'];

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

/** What `for-each-ref` lists below a prefix. */
const listRefs = async (
  cwd: string,
  prefixes: readonly string[],
  user: string | null,
): Promise<string[]> => {
  const text = await gitText(['for-each-ref', '--format=%(refname:short)', ...prefixes], {
    cwd,
    user,
  });
  return text === '' ? [] : text.split('\n');
};

/**
 * The branches of a repository, or those it knows of its remotes.
 *
 * @param cwd the repository
 * @param remote true: of the remotes
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.list_branches /srv/app
 */
export const list_branches = async (
  cwd: string,
  { remote = false, user = null }: Common & { remote?: boolean } = {},
): Promise<string[]> => listRefs(cwd, [remote ? 'refs/remotes' : 'refs/heads'], user);

/**
 * The tags of a repository.
 *
 * @param cwd the repository
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.list_tags /srv/app
 */
export const list_tags = async (cwd: string, { user = null }: Common = {}): Promise<string[]> =>
  listRefs(cwd, ['refs/tags'], user);

/**
 * What `git rev-parse` says.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param opts further options, as text
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.rev_parse /srv/app opts=--is-shallow-repository
 */
export const rev_parse = async (
  cwd: string,
  rev: string | null = null,
  { opts = '', user = null }: Common & { opts?: string } = {},
): Promise<string> =>
  gitText(['rev-parse', ...splitWords(opts), ...(rev ? [plainWord(rev, 'rev')] : [])], {
    cwd,
    user,
  });

/**
 * What differs from the last commit: files by `modified`, `new`, `deleted`, `untracked`.
 *
 * @param cwd the repository
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.status /srv/app
 */
export const status = async (
  cwd: string,
  { user = null }: Common = {},
): Promise<Record<string, string[]>> => {
  const kinds: Readonly<Record<string, string>> = {
    M: 'modified',
    A: 'new',
    D: 'deleted',
    '??': 'untracked',
  };
  const found: Record<string, string[]> = {};
  const { stdout } = await git(['status', '-z', '--porcelain'], { cwd, user });
  for (const entry of stdout.split('\0').filter(text => text !== '')) {
    const state = entry.slice(0, 2).trim();
    const kind = kinds[state] ?? kinds[state[0] ?? ''];
    if (kind === undefined) continue;
    found[kind] = [...(found[kind] ?? []), entry.slice(3)];
  }
  return found;
};

/**
 * How a commit is known by the nearest tag.
 *
 * @param cwd the repository
 * @param rev the commit
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.describe /srv/app
 */
export const describe = async (
  cwd: string,
  rev = 'HEAD',
  { user = null }: Common = {},
): Promise<string> => gitText(['describe', plainWord(rev, 'rev')], { cwd, user });
