import { join } from 'node:path';
import { isDir } from '../_shared/files/file-paths.ts';
import { readdirSync } from '../_shared/safe-fs/fs.ts';
import { redact } from '../_shared/sources/url-login.ts';
import { failed } from '../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { failedAfter, gitMessage, sentences } from './git-comments.ts';
import { type DesiredCheckout, shownRepository, tracking } from './git-latest.ts';
import { commitOf, inspectClone, upstreamOf } from './git-local.ts';
import { isAt, type Refs, type RemoteRev } from './git-remote-rev.ts';
import { plainArg } from './git-run.ts';
import { startOf, updateSubmodules } from './git-update.ts';

/**
 * Returns the state's result if it ends before a clone is made: a failure, or the result in test
 * mode. `withChanges` determines whether the latter lists changes.
 */
export const beforeClone = async (
  ret: StateReturn,
  name: string,
  path: string,
  force_clone: boolean,
  withChanges = true,
): Promise<StateReturn | undefined> => {
  const shown = redact(name);
  const inTheWay = isDir(path) ? readdirSync(path) : null;
  if (inTheWay !== null && inTheWay.length > 0 && !force_clone)
    return failed(
      ret,
      `Target '${path}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to remove this directory's contents and proceed with cloning the remote repository`,
    );
  const clears = inTheWay !== null && force_clone;
  if (__opts__.test) {
    const changes = { ...(clears ? { 'forced clone': true } : {}), new: `${shown} => ${path}` };
    return {
      ...ret,
      result: null,
      changes: withChanges ? changes : {},
      comment: clears
        ? `Target directory ${path} exists. Since force_clone=True, the contents of ${path} would be deleted, and ${shown} would be cloned into this directory.`
        : `Repository ${shown} would be cloned to ${path}`,
    };
  }
  if (!clears) return undefined;
  for (const each of inTheWay) await __salt__['file.remove'](join(path, each));
  ret.changes['forced clone'] = true;
  return undefined;
};

/** Clones, and brings the clone to the wanted revision. */
export const cloneNew = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  found: RemoteRev | undefined,
  refs: Refs,
): Promise<StateReturn> => {
  const { path, url, user, login, remote, bare, mirror, depth, rev } = wanted;
  const comments: string[] = [];
  const opts = [
    ...(mirror ? ['--mirror'] : bare ? ['--bare'] : []),
    ...(remote === 'origin' ? [] : ['--origin', plainArg(remote, 'remote')]),
    ...(depth === null ? [] : ['--depth', String(depth), '--branch', rev]),
  ];
  try {
    await __salt__['git.clone'](path, url, { opts, ...login });
  } catch (error) {
    return failedAfter(ret, `Clone failed: ${gitMessage(error)}`);
  }
  ret.changes.new = `${shownRepository(wanted)} => ${path}`;
  comments.push(
    `${shownRepository(wanted)} cloned to ${path}${mirror ? ' as mirror' : bare ? ' as bare repository' : ''}`,
  );
  try {
    const stopped = bare || !found ? undefined : await settle(ret, wanted, found, refs, comments);
    if (stopped) return stopped;
    const now = await commitOf(path, 'HEAD', user);
    if (now !== null) ret.changes.revision = { old: null, new: now };
    return { ...ret, comment: sentences(comments) };
  } catch (error) {
    return failedAfter(ret, gitMessage(error), comments);
  }
};

/** Returns a result only if the state ends here. */
const settle = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  found: RemoteRev,
  refs: Refs,
  comments: string[],
): Promise<StateReturn | undefined> => {
  const { path, user, branch, rev } = wanted;
  const clone = await inspectClone(path, user);
  if (found.kind === 'tag' && !clone.tags.includes(rev))
    return failedAfter(ret, `Revision '${rev}' does not exist in clone`, comments);
  if (branch !== null && !clone.branches.includes(branch)) {
    const opts = ['-b', plainArg(branch, 'branch')];
    await __salt__['git.checkout'](path, startOf(found), { opts, user });
    comments.push(`Branch '${branch}' checked out, with ${found.place} as a starting point`);
  }
  const local = await inspectClone(path, user);
  if (local.branch === null && !Object.hasOwn(refs, 'HEAD'))
    return failedAfter(
      ret,
      "Remote HEAD refers to a ref that does not exist. This can happen when the default branch on the remote repository is renamed or deleted. If you are unable to fix the remote repository, you can work around this by setting the 'branch' argument (which will ensure that the named branch is created if it does not already exist).",
      comments,
    );
  if (!isAt(local.rev, found)) {
    await __salt__['git.reset'](path, { opts: ['--hard', found.sha], user });
    comments.push(`Repository was reset to ${found.place}`);
  }
  const upstream = await upstreamOf(path, local.branch ?? 'HEAD', { user });
  const follow = tracking(wanted, found, local.branches, upstream);
  if (follow !== null) {
    await __salt__['git.branch'](path, null, { opts: follow.opts, user });
    comments.push(follow.done);
  }
  return wanted.submodules ? updateSubmodules(ret, wanted, comments) : undefined;
};
