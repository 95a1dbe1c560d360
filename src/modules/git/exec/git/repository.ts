/**
 * Manages git repositories.
 *
 * @platform all
 * @depends git
 */

import { join } from 'node:path';
import { which } from '../../../_shared/commands/which.ts';
import { isDir } from '../../../_shared/files/file-paths.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import {
  type Base,
  type GitOpts,
  gitOptionArgs,
  inHome,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { git, gitText, plainArg } from '../../git-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('git') ? true : [false, 'git is not installed'];

/**
 * Returns the version of git.
 *
 * @param versioninfo true: as a list of numbers
 *
 * @example tsalt-ssh '*' git.version
 */
export const version = async (versioninfo = false): Promise<string | (string | number)[]> => {
  const text = (await gitText(['--version'])).replace(/^git version (\S+).*$/s, '$1');
  return versioninfo
    ? text.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part))
    : text;
};

/**
 * Whether a directory is the top of a repository, bare or with a working tree.
 *
 * @param cwd the directory
 *
 * @example tsalt-ssh '*' git.is_repo /srv/app
 */
export const is_repo = async (cwd: string, options: Base = {}): Promise<boolean> => {
  const place = inHome(cwd, options.user);
  if (!isDir(place)) return false;
  if (existsSync(join(place, '.git'))) return true;
  const how = { ...runOptions(cwd, options), ignore: true };
  const result = await git(['rev-parse', '--is-bare-repository'], how);
  return result.code === 0 && result.stdout.trim() === 'true' && existsSync(join(place, 'HEAD'));
};

/**
 * Returns the commit that a revision refers to.
 *
 * @param cwd the repository
 * @param rev the revision
 * @param short shorten it
 *
 * @example tsalt-ssh '*' git.revision /srv/app main
 */
export const revision = async (
  cwd: string,
  rev = 'HEAD',
  { short = false, ...options }: { short?: boolean } & Base = {},
): Promise<string> =>
  gitText(
    [
      'rev-parse',
      ...(short ? ['--short'] : []),
      '--verify',
      '--quiet',
      `${plainArg(rev, 'rev')}^{commit}`,
    ],
    runOptions(cwd, options),
  );

/**
 * Returns the branch that is checked out; `HEAD` if none is.
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.current_branch /srv/app
 */
export const current_branch = async (cwd: string, options: Base = {}): Promise<string> => {
  const how = runOptions(cwd, options);
  const found = await git(['symbolic-ref', '--quiet', '--short', 'HEAD'], { ...how, ignore: true });
  // Status 1: HEAD is detached. Any higher status is an error.
  if (found.code > 1) return gitText(['symbolic-ref', '--short', 'HEAD'], how);
  return found.stdout.trim() || 'HEAD';
};

/**
 * Whether files that git knows were changed in the working tree.
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.has_changes /srv/app
 */
export const has_changes = async (cwd: string, options: Base = {}): Promise<boolean> =>
  (await gitText(['status', '--porcelain', '--untracked-files=no'], runOptions(cwd, options))) !==
  '';

/** Lists the names below a prefix; unambiguous even if a branch and a tag have the same name. */
const listRefs = async (cwd: string, kind: string, options: Base): Promise<string[]> => {
  const name = kind === 'remotes' ? '%(refname:short)' : '%(refname:lstrip=2)';
  const asked = ['for-each-ref', `--format=${name}`, `refs/${kind}`];
  const text = await gitText(asked, runOptions(cwd, options));
  return text === '' ? [] : text.split('\n');
};

/**
 * Returns the branches of a repository, or of its remotes.
 *
 * @param cwd the repository
 * @param remote true: of the remotes
 *
 * @example tsalt-ssh '*' git.list_branches /srv/app
 */
export const list_branches = async (
  cwd: string,
  { remote = false, ...options }: { remote?: boolean } & Base = {},
): Promise<string[]> => listRefs(cwd, remote ? 'remotes' : 'heads', options);

/**
 * Returns the tags of a repository.
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.list_tags /srv/app
 */
export const list_tags = async (cwd: string, options: Base = {}): Promise<string[]> =>
  listRefs(cwd, 'tags', options);

/**
 * Returns the output of `git rev-parse`.
 *
 * @param cwd the repository
 * @param rev the revision
 *
 * @example tsalt-ssh '*' git.rev_parse /srv/app opts=--is-shallow-repository
 */
export const rev_parse = async (
  cwd: string,
  rev: string | null = null,
  { opts = '', ...options }: Opts & GitOpts & Base = {},
): Promise<string> =>
  gitText(
    ['rev-parse', ...gitOptionArgs(opts), ...(rev ? [plainArg(rev, 'rev')] : [])],
    runOptions(cwd, options),
  );

/**
 * Returns the files that differ from the last commit: `modified`, `new`, `deleted`, `untracked`, and
 * other changes by git's own letters (`R`: renamed).
 *
 * @param cwd the repository
 *
 * @example tsalt-ssh '*' git.status /srv/app
 */
export const status = async (
  cwd: string,
  options: Base = {},
): Promise<Record<string, string[]>> => {
  const kinds: Readonly<Record<string, string>> = {
    M: 'modified',
    A: 'new',
    D: 'deleted',
    '??': 'untracked',
  };
  const found: Record<string, string[]> = {};
  const { stdout } = await git(['status', '-z', '--porcelain'], runOptions(cwd, options));
  const entries = stdout.split('\0').filter(text => text !== '');
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] ?? '';
    const state = entry.slice(0, 2).trim();
    const kind = kinds[state] ?? kinds[state[0] ?? ''] ?? state;
    found[kind] ??= [];
    found[kind].push(entry.slice(3));
    // The next field is the old name.
    if (/[RC]/.test(state)) at += 1;
  }
  return found;
};

/**
 * Describes a commit by the nearest tag.
 *
 * @param cwd the repository
 * @param rev the commit
 *
 * @example tsalt-ssh '*' git.describe /srv/app
 */
export const describe = async (cwd: string, rev = 'HEAD', options: Base = {}): Promise<string> =>
  gitText(['describe', '--always', plainArg(rev, 'rev')], runOptions(cwd, options));
