import { getOwn } from '../../protocol/plain.ts';
import { redact } from '../_shared/sources/url-login.ts';
import { failed } from '../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { failedAfter, gitMessage, sentences, upToDate } from './git-comments.ts';
import {
  type CheckoutPlan,
  type DesiredCheckout,
  isFastForward,
  planUpdate,
  refusal,
  shownRepository,
  staysBehind,
  tracking,
} from './git-latest.ts';
import { commitOf, inspectClone, type Local } from './git-local.ts';
import { predictUpdate } from './git-predict.ts';
import { isAt, type Refs, type RemoteRev } from './git-remote-rev.ts';
import { git, plainArg } from './git-run.ts';
import { syncTags, tagChanges } from './git-tags.ts';

/** Updates an existing clone to the desired revision. */
export const updateClone = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  found: RemoteRev | undefined,
  refs: Refs,
): Promise<StateReturn> => {
  const { path, user, force_reset } = wanted;
  const comments: string[] = [];
  try {
    const local = await inspectClone(path, user);
    if (!found)
      return local.rev === null
        ? upToDate(ret, path)
        : failed(
            ret,
            'Remote repository is empty, cannot update from a non-empty to an empty repository',
          );
    if (local.isDirty && isAt(local.rev, found)) {
      if (force_reset !== true) return upToDate(ret, path, [], true);
      if (__opts__.test) return wouldReset(ret, path);
    }
    const plan = await planUpdate(ret, wanted, found, local);
    if ('result' in plan) return plan;
    const tags = await tagChanges(wanted, refs);
    if (__opts__.test) {
      const actions: string[] = [];
      await syncTags(wanted, tags, ret, actions);
      return predictUpdate(ret, wanted, plan, actions);
    }
    const stopped = await carryOut(ret, wanted, plan, tags, comments);
    return stopped ?? (await answer(ret, wanted, plan, comments));
  } catch (error) {
    return failedAfter(ret, gitMessage(error), comments);
  }
};

const wouldReset = (ret: StateReturn, path: string): StateReturn => ({
  ...ret,
  result: null,
  changes: { 'forced update': true },
  comment: `${path} is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes would be reset. To only reset when there are changes in the remote repository, set 'force_reset' to 'remote-changes'.`,
});

const answer = async (
  ret: StateReturn,
  { path, user }: DesiredCheckout,
  { local, found }: CheckoutPlan,
  comments: string[],
): Promise<StateReturn> => {
  const now = await commitOf(path, 'HEAD', user);
  if (!isAt(now, found)) return failedAfter(ret, 'Failed to update repository', comments);
  if (now === local.rev) return upToDate(ret, path, comments);
  ret.changes.revision = { old: local.rev, new: now };
  return { ...ret, comment: sentences(comments) };
};

/** Returns a result only if the state ends here. */
const carryOut = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  plan: CheckoutPlan,
  tags: Awaited<ReturnType<typeof tagChanges>>,
  comments: string[],
): Promise<StateReturn | undefined> => {
  const { path, user } = wanted;
  const { local, found } = plan;
  await pointRemote(ret, wanted, local, comments);
  const follow = tracking(wanted, found, local.branches, plan.upstream);
  const lacksTags = await syncTags(wanted, tags, ret, comments);
  const ready = plan.hasRev && !lacksTags ? plan : await fetchFor(ret, wanted, plan, comments);
  if ('result' in ready) return ready;
  const stopped = await changeBranch(ret, wanted, plan, comments);
  if (stopped) return stopped;
  await discard(ret, wanted, ready, comments);
  const setUpstream = async (): Promise<void> => {
    if (follow === null) return;
    await __salt__['git.branch'](path, null, { opts: follow.opts, user });
    comments.push(follow.done);
  };
  // In a clone without commits no branch exists yet that could have an upstream.
  if (plan.baseRev !== null) await setUpstream();
  if (ready.fastForward && !isAt(plan.baseRev, found)) {
    const problem = await goForward(ret, wanted, plan, comments);
    if (problem) return problem;
  }
  if (plan.baseRev === null) await setUpstream();
  return wanted.submodules ? updateSubmodules(ret, wanted, comments) : undefined;
};

const pointRemote = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  { remotes }: Local,
  comments: string[],
): Promise<void> => {
  const { path, url, remote, user } = wanted;
  const old = getOwn(remotes, remote)?.fetch;
  if (old === url) return;
  await __salt__['git.remote_set'](path, url, { remote, user });
  const name = shownRepository(wanted);
  if (old === undefined) ret.changes.new = `${name} => ${remote}`;
  comments.push(
    old === undefined
      ? `Remote '${remote}' set to ${name}`
      : `Remote '${remote}' changed from ${redact(old)} to ${name}`,
  );
};

/** Fetches, and looks again whether going on loses nothing. */
const fetchFor = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  plan: CheckoutPlan,
  comments: string[],
): Promise<CheckoutPlan | StateReturn> => {
  const { path, user, rev, force_reset } = wanted;
  const { found, local, isThere, changesBranch, baseRev } = plan;
  const name = shownRepository(wanted);
  const problem = await fetchRefs(ret, wanted, comments);
  if (problem) return problem;
  try {
    await __salt__['git.rev_parse'](path, `${found.sha}^{commit}`, { user });
  } catch (error) {
    const why = redact(error instanceof Error ? error.message : String(error));
    return failed(ret, `Fetch did not successfully retrieve rev '${rev}' from ${name}: ${why}`);
  }
  if (!isThere && !wanted.update_head && !changesBranch)
    return { ...ret, comment: staysBehind(found, local) };
  const fastForward = await isFastForward(path, baseRev, found.sha, user);
  const now = { ...plan, fastForward };
  const loses = !fastForward || local.isDirty;
  return loses && force_reset === false ? refusal(ret, wanted, now, comments) : now;
};

/** Fetches into the names of the remote's branches. */
export const fetchRefs = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  comments: string[],
): Promise<StateReturn | undefined> => {
  const { path, remote, login, branches, tags, depth } = wanted;
  const heads = `refs/heads/${branches}:refs/remotes/${remote}/${branches}`;
  try {
    const changes: Record<string, unknown> = await __salt__['git.fetch'](path, {
      remote,
      refspecs: tags === null ? [`+${heads}`] : [heads, `+refs/tags/${tags}:refs/tags/${tags}`],
      force: wanted.force_fetch,
      // Without this option, git fetches all tags of the fetched commits.
      opts: [
        ...(depth === null ? [] : ['--depth', String(depth)]),
        ...(tags === '*' ? [] : ['--no-tags']),
      ],
      ...login,
    });
    if (Object.keys(changes).length > 0)
      comments.push(`${shownRepository(wanted)} was fetched, resulting in updated refs`);
    return undefined;
  } catch (error) {
    return failedAfter(
      ret,
      `Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. Output of the fetch command follows:\n\n${gitMessage(error)}`,
      comments,
    );
  }
};

const changeBranch = async (
  ret: StateReturn,
  { path, user, branch, force_checkout }: DesiredCheckout,
  { local, found, changesBranch }: CheckoutPlan,
  comments: string[],
): Promise<StateReturn | undefined> => {
  if (branch === null || !changesBranch) return undefined;
  if (local.isDirty && !force_checkout)
    return failed(
      ret,
      `Local branch '${local.branch}' has uncommitted changes. Set 'force_checkout' to True to discard them and proceed.`,
    );
  const isNew = !local.branches.includes(branch);
  await __salt__['git.checkout'](path, isNew ? startOf(found) : branch, {
    force: force_checkout,
    opts: isNew ? ['-b', plainArg(branch, 'branch')] : [],
    user,
  });
  comments.push(
    isNew
      ? `New branch '${branch}' was checked out, with ${found.place} as a starting point`
      : `'${branch}' was checked out`,
  );
  return undefined;
};

/** Returns the start point of a new branch. */
export const startOf = ({ rev, sha, upstream }: RemoteRev): string =>
  rev === 'HEAD' ? sha : upstream || rev;

const discard = async (
  ret: StateReturn,
  { path, user, force_reset }: DesiredCheckout,
  { local, found, fastForward }: CheckoutPlan,
  comments: string[],
): Promise<void> => {
  if (fastForward === false) {
    await __salt__['git.reset'](path, { opts: ['--hard', found.sha], user });
    ret.changes['forced update'] = true;
    if (local.isDirty) comments.push('Uncommitted changes were discarded');
    comments.push(`Repository was hard-reset to ${found.place}`);
  } else if (fastForward && local.isDirty && force_reset !== false) {
    await __salt__['git.discard_local_changes'](path, '.', { user });
    comments.push('Uncommitted changes were discarded');
  }
};

const goForward = async (
  ret: StateReturn,
  { path, user, rev }: DesiredCheckout,
  { found }: CheckoutPlan,
  comments: string[],
): Promise<StateReturn | undefined> => {
  if (!found.upstream && rev !== 'HEAD') {
    await __salt__['git.reset'](path, { opts: ['--hard', found.rev], user });
    comments.push(`Repository was reset to ${found.rev} (fast-forward)`);
    return undefined;
  }
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'], { cwd: path, user, ignore: true });
  if (head.code !== 0)
    return failedAfter(ret, 'Unable to fast-forward, HEAD is detached', comments);
  await __salt__['git.merge'](path, { rev: found.sha, opts: ['--ff-only'], user });
  comments.push(`Repository was fast-forwarded to ${found.place}`);
  return undefined;
};

export const updateSubmodules = async (
  ret: StateReturn,
  { path, login }: DesiredCheckout,
  comments: string[],
): Promise<StateReturn | undefined> => {
  try {
    await __salt__['git.submodule_update'](path, login);
    return undefined;
  } catch (error) {
    return failedAfter(ret, `Failed to update submodules: ${gitMessage(error)}`, comments);
  }
};
