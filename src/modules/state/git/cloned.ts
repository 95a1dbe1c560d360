/** Git repositories, their configuration and where they stand. */

import { readdirSync } from 'node:fs';
import { messageOf } from '../../../protocol/error.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';
import { expandUser, isAbs, isDir } from '../../lib/file-paths.ts';
import { refuseEncoding } from '../../lib/git-options.ts';
import { plainWord, redact } from '../../lib/git-run.ts';
import { failed, newReturn } from '../../lib/returns.ts';

/**
 * Makes sure that a repository is cloned; a clone that is there stays as it is.
 *
 * @param name URL of the repository
 * @param target directory of the clone
 * @param branch branch to check out
 * @param user run git as this user
 * @param password has no effect: users of Windows need it
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is written down nowhere
 * @param https_pass its password
 * @param output_encoding what git says is UTF-8: another encoding is refused
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
  if (!target) return failed(ret, "'target' argument is required");
  const path = expandUser(target);
  if (!isAbs(path)) return failed(ret, "'target' path must be absolute");
  const withBranch = branch === null ? '' : ` with branch '${branch}'`;
  try {
    refuseEncoding(output_encoding);
    if (branch !== null) plainWord(branch, "'branch' argument");
    if (!(await __salt__['git.is_repo']?.(path, { user }))) {
      if (isDir(path) && readdirSync(path).length > 0)
        return failed(ret, `Target '${path}' exists, is non-empty and is not a git repository`);
      const changes = { new: `${redact(name)} => ${path}` };
      if (__opts__.test)
        return {
          ...ret,
          result: null,
          changes,
          comment: `${redact(name)} would be cloned to ${path}${withBranch}`,
        };
      const opts = branch === null ? '' : `--branch ${branch}`;
      await __salt__['git.clone']?.(path, name, { opts, user, identity, https_user, https_pass });
      return { ...ret, changes, comment: `${redact(name)} cloned to ${path}${withBranch}` };
    }
    const current: string = await __salt__['git.current_branch']?.(path, { user });
    if (branch === null || current === branch)
      return {
        ...ret,
        comment: `Repository already exists at ${path}${branch === null ? '' : ` and is checked out to branch '${branch}'`}`,
      };
    const changes = { branch: { old: current, new: branch } };
    if (__opts__.test)
      return { ...ret, result: null, changes, comment: `Branch would be changed to '${branch}'` };
    await __salt__['git.checkout']?.(path, branch, { user });
    return { ...ret, changes, comment: `Branch changed to '${branch}'` };
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};
