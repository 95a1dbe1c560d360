import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isFile } from '../../../_shared/files/file-paths.ts';
import { redact } from '../../../_shared/sources/url-login.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { failedAfter, gitMessage, sentences } from '../../git-comments.ts';
import { commitOf, isClone } from '../../git-local.ts';
import { beforeClone } from '../../git-new-clone.ts';
import { type Base, type GitLogin, refuseEncoding } from '../../git-options.ts';
import { remoteRev } from '../../git-remote-rev.ts';
import { loginFor, plainArg } from '../../git-run.ts';

type DetachedOptions = {
  target?: string | null;
  remote?: string;
  user?: string | null;
  password?: string | null;
  force_clone?: boolean;
  force_checkout?: boolean;
  fetch_remote?: boolean;
  hard_reset?: boolean;
  submodules?: boolean;
  identity?: string | string[] | null;
  https_user?: string | null;
  https_pass?: string | null;
  output_encoding?: string | null;
};

/**
 * Keeps a clone at one commit, tag or branch, with HEAD detached.
 *
 * @param name URL of the repository; a password in it is never stored
 * @param rev the revision
 * @param target directory of the clone
 * @param remote name of the remote
 * @param user run git as this user
 * @param password has no effect: only needed on Windows
 * @param force_clone empty the target directory if it is not a repository
 * @param force_checkout discard local changes when the revision is checked out
 * @param fetch_remote false: look for the revision only in the clone
 * @param hard_reset discard local changes before
 * @param submodules update submodules
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is never stored
 * @param https_pass its password
 * @param output_encoding only UTF-8 output is supported; other encodings are refused
 *
 * @example
 * https://example.com/app.git:
 *   git.detached:
 *     - rev: v1.2
 *     - target: /srv/app
 */
export const detached = async (
  name: string,
  rev: string | number,
  {
    target = null,
    remote = 'origin',
    user = null,
    password: _password = null,
    force_clone = false,
    force_checkout = false,
    fetch_remote = true,
    hard_reset = false,
    submodules = false,
    identity = null,
    https_user = null,
    https_pass = null,
    output_encoding = null,
  }: DetachedOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!rev) return failed(ret, `'${plainStr(rev)}' is not a valid value for the 'rev' argument`);
  if (!target) return failed(ret, "'target' argument is required");
  const path = expandUser(String(target));
  if (!isAbs(path)) return failed(ret, `Target '${path}' is not an absolute path`);
  if (isFile(path))
    return failed(ret, `Target '${path}' exists and is a regular file, cannot proceed`);
  const comments: string[] = [];
  try {
    refuseEncoding(output_encoding);
    const { url, ...https } = loginFor(name, https_user, https_pass);
    const login = { user, identity, ...https };
    const isHash = /^[0-9a-f]{1,40}$/i.test(String(rev));
    const wanted = isHash ? String(rev).toLowerCase() : String(rev);
    const place = { url, path, remote: plainArg(remote, 'remote'), login, isHash, rev: wanted };
    const isNew = !(await isClone(path, user));
    const early = isNew
      ? await cloneFirst(ret, place, force_clone, comments)
      : isHash
        ? undefined
        : await pointRemote(ret, place, comments);
    if (early) return early;
    const sha = await commitFor(ret, place, fetch_remote, comments);
    if (sha === undefined) return failed(ret, `Revision '${wanted}' does not exist`);
    if (typeof sha !== 'string') return sha;
    const wish = { sha, isNew, hard_reset, force_checkout, submodules };
    return await moveHead(ret, place, wish, comments);
  } catch (error) {
    return failedAfter(ret, gitMessage(error), comments);
  }
};

type Place = {
  url: string;
  path: string;
  remote: string;
  login: Base & GitLogin;
  rev: string;
  /** Whether the revision is a commit, possibly abbreviated. */
  isHash: boolean;
};

/** Returns a result only if the state ends here: a failure, or the result in test mode. */
const cloneFirst = async (
  ret: StateReturn,
  { url, path, remote, login }: Place,
  force: boolean,
  comments: string[],
): Promise<StateReturn | undefined> => {
  const early = await beforeClone(ret, ret.name, path, force, false);
  if (early) return early;
  const opts = ['--no-checkout', ...(remote === 'origin' ? [] : ['--origin', remote])];
  await __salt__['git.clone'](path, url, { opts, ...login });
  comments.push(`${redact(ret.name)} cloned to ${path}`);
  return undefined;
};

const pointRemote = async (
  ret: StateReturn,
  { url, path, remote, login: { user = null } }: Place,
  comments: string[],
): Promise<StateReturn | undefined> => {
  const remotes: Record<string, { fetch: string }> = await __salt__['git.remotes'](path, {
    user,
    redact_auth: false,
  });
  const old = remotes[remote]?.fetch;
  if (old === url) return undefined;
  const name = redact(ret.name);
  if (__opts__.test)
    return {
      ...ret,
      changes: { ...ret.changes, ...inPlan({ [remote]: { new: name } }) },
      result: null,
      comment: `Remote ${remote} would be set to ${name}`,
    };
  await __salt__['git.remote_set'](path, url, { remote, user });
  comments.push(
    `Remote ${remote} updated from '${old === undefined ? 'None' : redact(old)}' to '${name}'`,
  );
  return undefined;
};

/**
 * Returns the commit that the revision refers to, after fetching from the remote unless the clone
 * already has it.
 */
const commitFor = async (
  ret: StateReturn,
  { url, path, remote, login, rev, isHash }: Place,
  fetch: boolean,
  comments: string[],
): Promise<string | undefined | StateReturn> => {
  const { user = null } = login;
  const local = async (...names: string[]): Promise<string | undefined> => {
    for (const name of names) {
      const found = await commitOf(path, name, user);
      if (found !== null) return found;
    }
    return undefined;
  };
  const names = isHash ? [rev] : [`refs/remotes/${remote}/${rev}`, `refs/tags/${rev}`];
  const known = isHash || !fetch ? await local(...names) : undefined;
  if (known !== undefined || !fetch) return known;
  try {
    const refs = await __salt__['git.ls_remote'](null, { remote: url, ...login });
    const found = remoteRev(refs, rev, remote);
    const here = found && (await local(found.sha));
    if (__opts__.test) return here ?? found?.sha;
    // A fetch writes to the repository even if nothing is new, so it is skipped if the clone is
    // current.
    if (here !== undefined && here === (await local(...names))) return here;
    const changes: Record<string, unknown> = await __salt__['git.fetch'](path, {
      remote,
      refspecs: [`refs/heads/*:refs/remotes/${remote}/*`, '+refs/tags/*:refs/tags/*'],
      force: true,
      ...login,
    });
    if (Object.keys(changes).length > 0)
      comments.push(`Remote ${remote} was fetched, resulting in updated refs`);
  } catch (error) {
    return failedAfter(ret, `Fetch failed:\n\n${redact(messageOf(error))}`, comments);
  }
  return local(...names);
};

type Wish = {
  sha: string;
  isNew: boolean;
  hard_reset: boolean;
  force_checkout: boolean;
  submodules: boolean;
};

const moveHead = async (
  ret: StateReturn,
  { path, login }: Place,
  { sha, isNew, hard_reset, force_checkout, submodules }: Wish,
  comments: string[],
): Promise<StateReturn> => {
  const { user = null } = login;
  const old = isNew ? null : await commitOf(path, 'HEAD', user);
  const branch: string = isNew ? 'HEAD' : await __salt__['git.current_branch'](path, { user });
  const resets = hard_reset && (isNew || (await __salt__['git.has_changes'](path, { user })));
  if (resets && __opts__.test)
    return {
      ...ret,
      changes: { ...ret.changes, ...inPlan({ 'hard reset': true }) },
      result: null,
      comment: `Hard reset to HEAD would be performed on ${path}`,
    };
  if (resets) {
    await __salt__['git.reset'](path, { opts: ['--hard', 'HEAD'], user });
    comments.push('Repository was reset to HEAD before checking out revision');
  }
  const isThere = old === sha && branch === 'HEAD';
  if (!isThere) {
    ret.changes.HEAD = { old, new: sha };
    if (__opts__.test)
      return { ...ret, result: null, comment: `Commit ID ${sha} would be checked out at ${path}` };
    await __salt__['git.checkout'](path, sha, { force: force_checkout, opts: '--detach', user });
    comments.push(`Commit ID ${sha} was checked out at ${path}`);
  }
  if (submodules && !__opts__.test) {
    await __salt__['git.submodule_update'](path, login);
    comments.push('Submodules were updated');
  }
  if (isThere) comments.push('Already checked out at correct revision');
  return { ...ret, comment: sentences(comments) };
};
