import { redact } from '../_shared/sources/url-login.ts';
import { failed } from '../_shared/states/returns.ts';
import type { StateReturn } from '../api.ts';
import { __salt__ } from '../api.ts';
import { sentences, shortSha } from './git-comments.ts';
import { commitOf, type Local, upstreamOf } from './git-local.ts';
import type { Base, GitLogin } from './git-options.ts';
import { isAt, type RemoteRev } from './git-remote-rev.ts';

/** The arguments of git.latest that define the desired clone. */
export type DesiredCheckout = {
  name: string;
  /** The URL that git stores, without a password. */
  url: string;
  path: string;
  rev: string;
  branch: string | null;
  remote: string;
  user: string | null;
  /** The credentials and options for logging in. */
  login: Base & GitLogin;
  bare: boolean;
  mirror: boolean;
  depth: number | null;
  force_checkout: boolean;
  force_reset: boolean | string;
  /** Glob of the branches to fetch. */
  branches: string;
  /** Glob of the tags to fetch; null for none. */
  tags: string | null;
  /** Remove tags that the remote does not have. */
  sync_tags: boolean;
  submodules: boolean;
  force_fetch: boolean;
  update_head: boolean;
  defaultBranch: string | null;
};

/** The plan for moving a clone to the desired revision; the same in test mode. */
export type CheckoutPlan = {
  readonly local: Local;
  readonly found: RemoteRev;
  readonly isThere: boolean;
  /** Whether another branch has to be checked out. */
  readonly changesBranch: boolean;
  /** The local commit that is reset, or merged into. */
  readonly baseRev: string | null;
  /** The clone already has the desired commit, so no fetch is needed. */
  readonly hasRev: boolean;
  /** Undefined if it can be determined only after a fetch. */
  readonly fastForward: boolean | undefined;
  /** The upstream of the branch; false for none, null if the branch does not exist yet. */
  readonly upstream: string | false | null;
};

/** Plans the update, or returns the final result if nothing has to be done or nothing may be done. */
export const planUpdate = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  found: RemoteRev,
  local: Local,
): Promise<CheckoutPlan | StateReturn> => {
  const { path, user, branch, force_reset } = wanted;
  const changesBranch = branch !== null && branch !== local.branch;
  const isNewBranch = changesBranch && !local.branches.includes(branch);
  const baseRev = isNewBranch
    ? found.sha
    : changesBranch
      ? await commitOf(path, `refs/heads/${branch}`, user)
      : local.rev;
  const hasRev = await isFetched(wanted, found, local, baseRev);
  if (typeof hasRev !== 'boolean') return failed(ret, hasRev.problem);
  const isThere = isAt(local.rev, found);
  if (hasRev && !isThere && !wanted.update_head && !changesBranch)
    return { ...ret, comment: staysBehind(found, local) };
  const fastForward =
    local.isDirty && force_reset !== 'remote-changes'
      ? false
      : hasRev
        ? await isFastForward(path, baseRev, found.sha, user)
        : undefined;
  const base = changesBranch && !isNewBranch ? branch : local.branch;
  const plan = { local, found, isThere, changesBranch, baseRev, hasRev, fastForward };
  if (fastForward === false && force_reset === false) return refusal(ret, wanted, plan);
  const upstream = base === null ? null : await upstreamOf(path, base, { user });
  return { ...plan, upstream };
};

export const staysBehind = ({ rev, place }: RemoteRev, { rev: head }: Local): string =>
  `${rev === 'HEAD' ? `Remote head${place.slice('remote HEAD'.length)}` : place} is already present and local HEAD (${head?.slice(0, 7)}) does not match, but update_head=False. HEAD has not been updated locally.`;

/** Whether the clone has the commit, and knows it by the name that is asked for. */
const isFetched = async (
  { path, user, remote, force_reset }: DesiredCheckout,
  { rev, sha, kind, upstream }: RemoteRev,
  { tags, remotes }: Local,
  baseRev: string | null,
): Promise<boolean | { problem: string }> => {
  if (kind === 'sha1' && baseRev?.startsWith(sha)) return true;
  if ((await commitOf(path, sha, user)) === null) return false;
  if (kind === 'sha1') return true;
  if (kind === 'branch')
    return (
      Object.hasOwn(remotes, remote) &&
      (await commitOf(path, `refs/remotes/${upstream}`, user)) === sha
    );
  if (!tags.includes(rev)) return false;
  const tag = await commitOf(path, `refs/tags/${rev}`, user);
  if (tag === sha) return true;
  return force_reset
    ? false
    : {
        problem: `'${rev}' is a tag, but the remote SHA1 for this tag (${shortSha(sha)}) doesn't match the local SHA1 (${shortSha(tag)}). Set 'force_reset' to True to force this update.`,
      };
};

/** Whether what is there is part of what is to come: moving there loses no commit. */
export const isFastForward = async (
  path: string,
  base: string | null,
  sha: string,
  user: string | null,
): Promise<boolean> =>
  // A repository without commits has none to lose.
  base === null ||
  (await __salt__['git.merge_base'](path, [base, sha], { is_ancestor: true, user })) === true;

/** Returns the failure if continuing would lose commits or changes. */
export const refusal = (
  ret: StateReturn,
  { rev, branch, defaultBranch }: DesiredCheckout,
  { local, found, changesBranch, baseRev }: Omit<CheckoutPlan, 'upstream'>,
  comments: readonly string[] = [],
): StateReturn => {
  const { isDirty } = local;
  const [from, to] = [shortSha(baseRev), shortSha(found.sha)];
  const way = isDirty && from !== to ? `from ${from} to ${to}` : `to ${to}`;
  const first = changesBranch ? ` (after checking out local branch '${branch}')` : '';
  const reason = isDirty ? 'there are uncommitted changes' : 'this is not a fast-forward merge';
  const force = isDirty
    ? " Set 'force_reset' to True (or 'remote-changes') to force this update and discard these changes."
    : " Set 'force_reset' to True to force this update.";
  const other = branch === null ? otherBranch(rev, local.branch ?? 'None', defaultBranch) : '';
  const done = comments.length === 0 ? '' : `\n\nChanges already made: ${sentences(comments)}`;
  return failed(
    ret,
    `Repository would be updated ${way}${first}, but ${reason}.${force}${other}${done}`,
  );
};

const otherBranch = (rev: string, local: string, remote: string | null): string => {
  if (rev !== 'HEAD')
    return local === rev
      ? ''
      : ` The desired rev (${rev}) differs from the name of the local branch (${local}), if the desired rev is a branch name then a forced update could possibly be avoided by setting the 'branch' argument to '${rev}' instead.`;
  return remote === null || remote === local
    ? ''
    : ` The default remote branch (${remote}) differs from the local branch (${local}). This could be caused by changing the default remote branch, or if the local branch was manually changed. Rather than forcing an update, it may be advisable to set the 'branch' argument to '${remote}' instead. To ensure that this state follows the '${remote}' branch instead of the remote HEAD, set the 'rev' argument to '${remote}'.`;
};

/** Returns the options of `git branch` that set the right upstream; null if it is already set. */
export const tracking = (
  wanted: Pick<DesiredCheckout, 'branch'>,
  { upstream: wish }: RemoteRev,
  branches: readonly string[],
  upstream: string | false | null,
): { opts: string[]; done: string } | null => {
  if (!wish)
    return upstream && wish === false
      ? { opts: ['--unset-upstream'], done: 'Tracking branch was unset' }
      : null;
  // A new branch tracks the branch it was created from.
  if (upstream === wish || (wanted.branch !== null && !branches.includes(wanted.branch)))
    return null;
  return {
    opts: ['--set-upstream-to', wish],
    done: `Tracking branch was ${upstream ? 'updated' : 'set'} to ${wish}`,
  };
};

export const shownRepository = ({ name }: DesiredCheckout): string => redact(name);
