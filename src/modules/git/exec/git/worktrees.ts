import { basename, join } from 'node:path';
import { isDir } from '../../../_shared/files/file-paths.ts';
import { existsSync, readFileSync, rmSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../../api.ts';
import {
  type Base,
  type GitOpts,
  gitOptionArgs,
  inHome,
  type Opts,
  runOptions,
} from '../../git-options.ts';
import { git, gitText, plainArg } from '../../git-run.ts';

/**
 * Whether a directory is part of a worktree that belongs to another repository.
 *
 * @param cwd the directory
 *
 * @example tsalt-ssh '*' git.is_worktree /srv/app-fix
 */
export const is_worktree = async (cwd: string, options: Base = {}): Promise<boolean> => {
  if (!isDir(inHome(cwd, options.user))) return false;
  const how = { ...runOptions(cwd, options), ignore: true };
  const { code, stdout } = await git(['rev-parse', '--show-toplevel'], how);
  if (code !== 0) return false;
  const pointer = join(stdout.replace(/\n$/, ''), '.git');
  if (!existsSync(pointer) || isDir(pointer)) return false;
  return /^gitdir:\s+\//.test(readFileSync(pointer, 'utf8'));
};

/**
 * Returns the worktrees of a repository by path: `branch`, `HEAD`, `detached`, `stale`, `tags`.
 *
 * @param cwd the repository
 * @param stale only those whose directory is gone
 * @param all these, too
 *
 * @example tsalt-ssh '*' git.list_worktrees /srv/app
 */
export const list_worktrees = async (
  cwd: string,
  {
    stale = false,
    user = null,
    password = null,
    output_encoding = null,
    all = false,
  }: { stale?: boolean; all?: boolean } & Base = {},
): Promise<Record<string, PlainDict>> => {
  if (all && stale) throw new CommandExecutionError("'all' and 'stale' cannot both be set to True");
  const how = runOptions(cwd, { user, password, output_encoding });
  const text = await gitText(['worktree', 'list', '--porcelain'], how);
  const found: Record<string, PlainDict> = {};
  for (const part of text.split('\n\n')) {
    const value = (key: string): string | undefined =>
      new RegExp(`^${key} (.*)$`, 'm').exec(part)?.[1];
    const path = value('worktree');
    const commit = value('HEAD');
    if (path === undefined || commit === undefined) continue;
    const isStale = !isDir(path);
    if (!all && isStale !== stale) continue;
    const branch = value('branch')?.replace('refs/heads/', '') ?? null;
    const tags =
      branch === null ? (await gitText(['tag', '--points-at', commit], how)).split('\n') : [];
    found[path] = {
      stale: isStale,
      HEAD: commit,
      detached: branch === null,
      branch,
      ...(tags.filter(Boolean).length > 0 ? { tags: tags.filter(Boolean) } : {}),
    };
  }
  return found;
};

/**
 * Makes a worktree: another working tree of the same repository.
 *
 * @param cwd the repository
 * @param worktree_path where
 * @param ref the commit to check out
 * @param reset_branch reset the branch if it exists
 * @param force also when the branch is checked out elsewhere
 * @param detach without a branch
 * @param branch the branch to create; by default, the name of the directory
 *
 * @example tsalt-ssh '*' git.worktree_add /srv/app /srv/app-fix ref=main
 */
export const worktree_add = async (
  cwd: string,
  worktree_path: string,
  {
    ref = null,
    reset_branch = null,
    force = null,
    detach = false,
    opts = '',
    git_opts = '',
    user = null,
    password = null,
    ignore_retcode = false,
    output_encoding = null,
    branch = null,
  }: {
    ref?: string | null;
    reset_branch?: boolean | null;
    force?: boolean | null;
    detach?: boolean;
    branch?: string | null;
  } & Opts &
    GitOpts &
    Base = {},
): Promise<string> => {
  if (branch && detach)
    throw new SaltInvocationError("Only one of 'branch' and 'detach' is allowed");
  const made = plainArg(branch ?? basename(worktree_path), 'branch');
  const how = detach
    ? ['--detach']
    : [reset_branch ? '-B' : '-b', made, ...(force ? ['--force'] : [])];
  const from = ref === null ? [] : [plainArg(ref, 'ref')];
  const { stdout, stderr } = await git(
    ['worktree', 'add', ...how, ...gitOptionArgs(opts), '--', worktree_path, ...from],
    runOptions(cwd, { git_opts, user, password, ignore_retcode, output_encoding }),
  );
  return `${stderr}${stdout}`.trim();
};

/**
 * Removes the records of worktrees whose directories no longer exist.
 *
 * @param cwd the repository
 * @param dry_run only report what would be removed
 * @param verbose report the removed records
 * @param expire only those that are older: `1.week.ago`
 *
 * @example tsalt-ssh '*' git.worktree_prune /srv/app dry_run=True
 */
export const worktree_prune = async (
  cwd: string,
  {
    dry_run = false,
    verbose = true,
    expire = null,
    opts = '',
    ...options
  }: { dry_run?: boolean; verbose?: boolean; expire?: string | null } & Opts & GitOpts & Base = {},
): Promise<string> => {
  const flags = [
    ...(dry_run ? ['--dry-run'] : []),
    ...(verbose ? ['--verbose'] : []),
    ...(expire ? [`--expire=${expire}`] : []),
  ];
  const { stdout, stderr } = await git(
    ['worktree', 'prune', ...flags, ...gitOptionArgs(opts)],
    runOptions(cwd, options),
  );
  return `${stdout}${stderr}`.trim();
};

/**
 * Removes the directory of a worktree, with all that is in it. `git.worktree_prune` then lets its
 * repository forget it.
 *
 * @param cwd the worktree
 * @param user accepted: it is removed by who runs the call
 * @param output_encoding utf-8 is the only value
 *
 * @example tsalt-ssh '*' git.worktree_rm /srv/app-fix
 */
export const worktree_rm = async (
  cwd: string,
  { user = null, output_encoding = null }: Pick<Base, 'user' | 'output_encoding'> = {},
): Promise<boolean> => {
  const path = inHome(cwd, user);
  if (!existsSync(path)) throw new CommandExecutionError(`${path} does not exist`);
  if (!(await is_worktree(path, { user, output_encoding })))
    throw new CommandExecutionError(`${path} is not a git worktree`);
  rmSync(path, { recursive: true });
  return true;
};
