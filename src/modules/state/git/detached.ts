import { readdirSync } from 'node:fs';
import { messageOf } from '../../../protocol/error.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';
import { expandUser, isAbs, isDir, isFile } from '../../lib/file-paths.ts';
import { findRef } from '../../lib/git-latest.ts';
import { type Base, type Login, refuseEncoding } from '../../lib/git-options.ts';
import { loginFor, plainWord, redact } from '../../lib/git-run.ts';
import { failed, newReturn } from '../../lib/returns.ts';

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
 * @param name URL of the repository; a password in it is written down nowhere
 * @param rev the revision
 * @param target directory of the clone
 * @param remote name of the remote
 * @param user run git as this user
 * @param password has no effect: users of Windows need it
 * @param force_clone remove what is in the target directory and is no repository
 * @param force_checkout discard local changes when the revision is checked out
 * @param fetch_remote false: look for the revision only in the clone
 * @param hard_reset discard local changes before
 * @param submodules update submodules
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is written down nowhere
 * @param https_pass its password
 * @param output_encoding what git says is UTF-8: another encoding is refused
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
  if (!rev) return failed(ret, `'${rev}' is not a valid value for the 'rev' argument`);
  if (!target) return failed(ret, "'target' argument is required");
  const path = expandUser(target);
  if (!isAbs(path)) return failed(ret, `Target '${path}' is not an absolute path`);
  if (isFile(path))
    return failed(ret, `Target '${path}' exists and is a regular file, cannot proceed`);
  try {
    refuseEncoding(output_encoding);
    const { url, ...https } = loginFor(name, https_user, https_pass);
    const login = { user, identity, ...https };
    const place = { name, url, path, remote: plainWord(remote, 'remote'), login };
    const isNew = !(await __salt__['git.is_repo'](path, { user }));
    const early = isNew ? await cloneFirst(ret, place, force_clone) : await pointRemote(ret, place);
    if (early) return early;
    const sha = await commitFor(place, String(rev), fetch_remote);
    if (sha === undefined) return failed(ret, `Revision '${rev}' does not exist`);
    const wish = { sha, isNew, hard_reset, force_checkout, submodules };
    return await moveHead(ret, place, wish);
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};

type Place = { name: string; url: string; path: string; remote: string; login: Base & Login };

/** Answers only what ends the state: a prediction or a reason. */
const cloneFirst = async (
  ret: StateReturn,
  { name, url, path, remote, login }: Place,
  force: boolean,
): Promise<StateReturn | undefined> => {
  const inTheWay = isDir(path) && readdirSync(path).length > 0;
  if (inTheWay && !force)
    return failed(
      ret,
      `Target '${path}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to remove this directory's contents and proceed with cloning the remote repository`,
    );
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      comment: inTheWay
        ? `Target directory ${path} exists. Since force_clone=True, the contents of ${path} would be deleted, and ${redact(name)} would be cloned into this directory.`
        : `Repository ${redact(name)} would be cloned to ${path}`,
    };
  if (inTheWay) {
    await __salt__['file.remove'](path);
    ret.changes['forced clone'] = true;
  }
  await __salt__['git.clone'](path, url, { opts: `--no-checkout --origin ${remote}`, ...login });
  addComment(ret, `${redact(name)} cloned to ${path}`);
  return undefined;
};

const pointRemote = async (
  ret: StateReturn,
  { name, url, path, remote, login: { user = null } }: Place,
): Promise<StateReturn | undefined> => {
  const remotes: Record<string, { fetch: string }> = await __salt__['git.remotes'](path, {
    user,
    redact_auth: false,
  });
  const old = remotes[remote]?.fetch;
  if (old === url) return undefined;
  if (__opts__.test)
    return { ...ret, result: null, comment: `Remote ${remote} would be set to ${redact(name)}` };
  await __salt__['git.remote_set'](path, url, { remote, user });
  addComment(
    ret,
    `Remote ${remote} updated from '${old === undefined ? 'None' : redact(old)}' to '${redact(name)}'`,
  );
  return undefined;
};

/** The commit that a revision means; fetched when the clone does not hold it yet. */
const commitFor = async (
  { url, path, remote, login }: Place,
  rev: string,
  fetch: boolean,
): Promise<string | undefined> => {
  const { user = null } = login;
  const local = async (ref: string): Promise<string | undefined> => {
    try {
      return await __salt__['git.revision'](path, ref, { user });
    } catch {
      return undefined;
    }
  };
  const isHash = /^[0-9a-f]{7,40}$/i.test(rev);
  const known = isHash ? await local(rev) : undefined;
  if (known !== undefined) return known;
  if (!fetch)
    return (await local(`refs/remotes/${remote}/${rev}`)) ?? (await local(`refs/tags/${rev}`));
  const found = findRef(await __salt__['git.ls_remote'](null, { remote: url, ...login }), rev);
  if (!found) return undefined;
  const here = await local(found.sha);
  if (here !== undefined || __opts__.test) return here ?? found.sha;
  await __salt__['git.fetch'](path, {
    remote,
    refspecs: [`+refs/heads/*:refs/remotes/${remote}/*`, '+refs/tags/*:refs/tags/*'],
    force: true,
    ...login,
  });
  return local(found.sha);
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
): Promise<StateReturn> => {
  const { user = null } = login;
  const old: string | null = isNew ? null : await __salt__['git.revision'](path, 'HEAD', { user });
  const branch: string = isNew ? '' : await __salt__['git.current_branch'](path, { user });
  const dirty = hard_reset && !isNew && (await __salt__['git.has_changes'](path, { user }));
  if (dirty && __opts__.test)
    return { ...ret, result: null, comment: `Hard reset to HEAD would be performed on ${path}` };
  if (dirty) {
    await __salt__['git.reset'](path, { opts: '--hard HEAD', user });
    addComment(ret, 'Repository was reset to HEAD before checking out revision');
  }
  if (old === sha && branch === '') addComment(ret, 'Already checked out at correct revision');
  else {
    ret.changes.HEAD = { old, new: sha };
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        comment: `Commit ID ${sha} would be checked out at ${path}`,
      };
    await __salt__['git.checkout'](path, sha, { force: force_checkout, opts: '--detach', user });
    addComment(ret, `Commit ID ${sha} was checked out at ${path}`);
  }
  if (submodules && !__opts__.test) {
    await __salt__['git.submodule_update'](path, login);
    addComment(ret, 'Submodules were updated');
  }
  return ret;
};

const addComment = (ret: StateReturn, line: string): void => {
  ret.comment = ret.comment === '' ? line : `${String(ret.comment)}\n${line}`;
};
