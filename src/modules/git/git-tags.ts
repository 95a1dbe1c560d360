import { fnmatch } from '../../data/python/glob.ts';
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { git } from './git-run.ts';

type TagWish = {
  readonly path: string;
  readonly user: string | null;
  readonly bare: boolean;
  /** Glob of the tags to fetch; null for none. */
  readonly tags: string | null;
  /** Remove tags that the remote does not have. */
  readonly sync_tags: boolean;
};

type TagChanges = { readonly missing: readonly string[]; readonly surplus: readonly string[] };

/**
 * Compares the tags of the remote and the clone: those missing in the clone, and those missing in
 * the remote.
 */
export const tagChanges = async (
  { path, user, bare, tags, sync_tags }: TagWish,
  refs: Readonly<Record<string, string>>,
): Promise<TagChanges> => {
  if (bare || tags === null) return { missing: [], surplus: [] };
  const there = Object.keys(refs)
    .filter(ref => ref.startsWith('refs/tags/') && !ref.endsWith('^{}'))
    .map(ref => ref.slice('refs/tags/'.length));
  const here: string[] = await __salt__['git.list_tags']?.(path, { user });
  return {
    missing: there.filter(tag => !here.includes(tag) && fnmatch(tag, tags)),
    surplus: sync_tags ? here.filter(tag => !there.includes(tag)) : [],
  };
};

/** Removes and reports tags. @returns whether they differ, so that a fetch is due now */
export const syncTags = async (
  { path, user }: Pick<TagWish, 'path' | 'user'>,
  { missing, surplus }: TagChanges,
  ret: StateReturn,
  comments: string[],
): Promise<boolean> => {
  const { test } = __opts__;
  if (missing.length > 0) ret.changes.new_tags = [...missing];
  if (surplus.length > 0) {
    ret.changes.deleted_tags = [...surplus];
    comments.push(
      `The following tags ${test ? 'would be' : 'were'} removed from the local checkout: ${surplus.join(', ')}`,
    );
  }
  if (test && missing.length > 0) comments.push(`Tags would be fetched: ${missing.join(', ')}`);
  if (test) return false;
  for (const tag of surplus) await git(['tag', '--delete', '--', tag], { cwd: path, user });
  return missing.length + surplus.length > 0;
};
