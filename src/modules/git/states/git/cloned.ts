/** Manages git repositories, their configuration and their revision. */

import { messageOf } from '../../../../protocol/error.ts';
import { exists, expandUser, isAbs } from '../../../_shared/files/file-paths.ts';
import { redact } from '../../../_shared/sources/url-login.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';
import { gitMessage } from '../../git-comments.ts';
import { commitOf } from '../../git-local.ts';
import { type Base, type GitLogin, refuseEncoding } from '../../git-options.ts';
import { plainArg } from '../../git-run.ts';

/**
 * Makes sure that a repository is cloned. An existing clone is not changed.
 *
 * @param name URL of the repository
 * @param target directory of the clone
 * @param branch branch to check out
 * @param user run git as this user
 * @param password has no effect: only needed on Windows
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is never stored
 * @param https_pass its password
 * @param output_encoding only UTF-8 output is supported; other encodings are refused
 *
 * @example
 * https://example.com/app.git:
 *   git.cloned:
 *     - target: /srv/app
 */
export const cloned = async (
  name: string,
  {
    target = null,
    branch = null,
    user = null,
    password: _password = null,
    identity = null,
    https_user = null,
    https_pass = null,
    output_encoding = null,
  }: {
    target?: string | null;
    branch?: string | null;
    user?: string | null;
    password?: string | null;
    identity?: string | string[] | null;
    https_user?: string | null;
    https_pass?: string | null;
    output_encoding?: string | null;
  } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (target === null) return failed(ret, "'target' argument is required");
  const path = expandUser(String(target));
  if (!isAbs(path)) return failed(ret, "'target' path must be absolute");
  if (branch === '') return failed(ret, "Invalid 'branch' argument");
  const wanted = branch === null ? null : String(branch);
  try {
    refuseEncoding(output_encoding);
    if (wanted !== null) plainArg(wanted, "'branch' argument");
    if (!exists(path))
      return await cloneTo(ret, path, wanted, { user, identity, https_user, https_pass });
    await __salt__['git.status'](path, { user });
    const current: string | null =
      wanted === null ? null : await __salt__['git.current_branch'](path, { user });
    if (wanted === null || current === wanted)
      return {
        ...ret,
        comment: `Repository already exists at ${path}${wanted === null ? '' : ` and is checked out to branch '${wanted}'`}`,
      };
    const changes = { branch: { old: current, new: wanted } };
    if (__opts__.test)
      return { ...ret, result: null, changes, comment: `Branch would be changed to '${wanted}'` };
    return await changeBranch(ret, path, wanted, { user, changes });
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};

const cloneTo = async (
  ret: StateReturn,
  path: string,
  branch: string | null,
  login: Base & GitLogin,
): Promise<StateReturn> => {
  const name = redact(ret.name);
  const changes = { new: `${name} => ${path}` };
  const withBranch = branch === null ? '' : ` with branch '${branch}'`;
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes,
      comment: `${name} would be cloned to ${path}${withBranch}`,
    };
  const opts = branch === null ? [] : ['--branch', branch];
  try {
    await __salt__['git.clone'](path, ret.name, { opts, ...login });
  } catch (error) {
    return failed(ret, `Clone failed: ${gitMessage(error)}`);
  }
  return { ...ret, changes, comment: `${name} cloned to ${path}${withBranch}` };
};

/** Checks out a branch. A new branch starts at the remote's branch. */
const changeBranch = async (
  ret: StateReturn,
  path: string,
  branch: string,
  { user, changes }: { user: string | null; changes: PlainDict },
): Promise<StateReturn> => {
  const isThere = (await commitOf(path, branch, user)) !== null;
  const opts = isThere ? [] : ['-b', branch];
  try {
    await __salt__['git.checkout'](path, isThere ? branch : `origin/${branch}`, { opts, user });
  } catch (error) {
    return failed(ret, `Failed to change branch to '${branch}': ${redact(messageOf(error))}`);
  }
  return { ...ret, changes, comment: `Branch changed to '${branch}'` };
};
