import { join } from 'node:path';
import { isDir } from '../_shared/files/file-paths.ts';
import { __salt__ } from '../api.ts';
import type { Base } from './git-options.ts';
import { git } from './git-run.ts';

/** The current state of a clone. */
export type Local = {
  /** The current commit; null in a repository without commits. */
  readonly rev: string | null;
  /** The current branch, or `HEAD` if it is detached; null without a commit. */
  readonly branch: string | null;
  readonly branches: readonly string[];
  readonly tags: readonly string[];
  /** URLs by remote name, including passwords. */
  readonly remotes: Readonly<Record<string, { fetch: string }>>;
  readonly isDirty: boolean;
};

export const inspectClone = async (path: string, user: string | null): Promise<Local> => {
  const rev = await commitOf(path, 'HEAD', user);
  return {
    rev,
    branch: rev === null ? null : await __salt__['git.current_branch'](path, { user }),
    branches: await __salt__['git.list_branches'](path, { user }),
    tags: await __salt__['git.list_tags'](path, { user }),
    remotes: await __salt__['git.remotes'](path, { user, redact_auth: false }),
    isDirty: rev !== null && (await hasChanges(path, user)),
  };
};

/** A bare repository has no files that could have changed. */
const hasChanges = async (path: string, user: string | null): Promise<boolean> => {
  try {
    return await __salt__['git.has_changes'](path, { user });
  } catch {
    return false;
  }
};

/** Whether a clone is there, bare or with its files, which may be a further worktree of another. */
export const isClone = async (path: string, user: string | null, bare = false): Promise<boolean> =>
  isDir(join(path, bare ? 'refs' : '.git')) || __salt__['git.is_worktree'](path, { user });

/** Returns the commit that a revision refers to in the clone; null if there is none. */
export const commitOf = async (
  path: string,
  rev: string,
  user: string | null,
): Promise<string | null> => {
  try {
    return (await __salt__['git.revision'](path, rev, { user })) || null;
  } catch {
    return null;
  }
};

/** Returns the upstream of a local branch; false if it has none. */
export const upstreamOf = async (
  path: string,
  branch: string,
  { user = null }: Base,
): Promise<string | false> => {
  const asked = ['rev-parse', '--abbrev-ref', `${branch}@{upstream}`];
  const { code, stdout } = await git(asked, { cwd: path, user, ignore: true });
  return code === 0 ? stdout.trim() : false;
};
