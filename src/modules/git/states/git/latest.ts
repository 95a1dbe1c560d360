import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isFile } from '../../../_shared/files/file-paths.ts';
import { redact } from '../../../_shared/sources/url-login.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { isUserToCome } from '../../../_shared/states/to-come.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { __salt__, type StateReturn } from '../../../api.ts';
import { updateBare } from '../../git-bare.ts';
import { gitMessage } from '../../git-comments.ts';
import type { DesiredCheckout } from '../../git-latest.ts';
import { isClone } from '../../git-local.ts';
import { beforeClone, cloneNew } from '../../git-new-clone.ts';
import { refuseEncoding } from '../../git-options.ts';
import { defaultBranch, type Refs, remoteRev } from '../../git-remote-rev.ts';
import { loginFor, plainArg } from '../../git-run.ts';
import { updateClone } from '../../git-update.ts';

type LatestOptions = {
  target?: string | null;
  rev?: string;
  branch?: string | null;
  user?: string | null;
  update_head?: boolean;
  force_checkout?: boolean;
  force_clone?: boolean;
  force_fetch?: boolean;
  force_reset?: boolean | string;
  submodules?: boolean;
  bare?: boolean;
  mirror?: boolean;
  remote?: string;
  fetch_tags?: boolean;
  sync_tags?: boolean;
  depth?: number | null;
  identity?: string | string[] | null;
  https_user?: string | null;
  https_pass?: string | null;
  password?: string | null;
  refspec_branch?: string;
  refspec_tag?: string;
  output_encoding?: string | null;
};

/**
 * Keeps a clone of a repository at the newest commit of a revision.
 *
 * @param name URL of the repository; a password in it is never stored
 * @param target directory of the clone
 * @param rev branch, tag or commit; HEAD is the remote's default branch
 * @param branch name of the local branch, if it differs
 * @param user run git as this user, who owns the clone then
 * @param update_head false: do not update an existing clone
 * @param force_checkout discard local changes when another branch is checked out
 * @param force_clone empty the target directory if it is not a repository
 * @param force_fetch also fetch updates that are not fast-forwards
 * @param force_reset true: discard local commits and changes; `remote-changes`: only when the remote moved
 * @param submodules update submodules
 * @param bare make a bare clone
 * @param mirror make a mirror
 * @param remote name of the remote
 * @param fetch_tags fetch all tags
 * @param sync_tags false: keep tags that no longer exist in the remote
 * @param depth fetch only this many commits of history
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is never stored
 * @param https_pass its password
 * @param password has no effect: only needed on Windows
 * @param refspec_branch glob of the branches to fetch
 * @param refspec_tag glob of the tags to fetch
 * @param output_encoding only UTF-8 output is supported; other encodings are refused
 *
 * @example
 * https://example.com/app.git:
 *   git.latest:
 *     - target: /srv/app
 *     - rev: main
 */
export const latest = async (
  name: string,
  {
    target = null,
    rev = 'HEAD',
    branch = null,
    user = null,
    update_head = true,
    force_checkout = false,
    force_clone = false,
    force_fetch = false,
    force_reset = false,
    submodules = false,
    bare = false,
    mirror = false,
    remote = 'origin',
    fetch_tags = true,
    sync_tags = true,
    depth = null,
    identity = null,
    https_user = null,
    https_pass = null,
    password: _password = null,
    refspec_branch = '*',
    refspec_tag = '*',
    output_encoding = null,
  }: LatestOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!remote) return failed(ret, "'remote' argument is required");
  if (!target) return failed(ret, "'target' argument is required");
  if (!rev) return failed(ret, `'${plainStr(rev)}' is not a valid value for the 'rev' argument`);
  if (typeof force_reset !== 'boolean' && force_reset !== 'remote-changes')
    return failed(ret, "'force_reset' must be one of True, False, or 'remote-changes'");
  const path = expandUser(String(target));
  if (!isAbs(path)) return failed(ret, `target '${path}' is not an absolute path`);
  if (isFile(path))
    return failed(ret, `Target '${path}' exists and is a regular file, cannot proceed`);
  if ((bare || mirror) && rev !== 'HEAD')
    return failed(ret, "'rev' is not compatible with the 'mirror' and 'bare' arguments");
  const { url, ...https } = loginFor(name, https_user, https_pass);
  const wanted: DesiredCheckout = {
    name,
    url,
    path,
    rev: String(rev),
    branch: branch === null ? null : String(branch),
    remote: String(remote),
    user,
    login: { user, identity, ...https },
    bare: bare || mirror,
    mirror,
    depth: depth === null ? null : Number(depth),
    force_checkout,
    force_reset,
    branches: refspec_branch,
    // A shallow clone has few tags on purpose.
    tags: fetch_tags && !depth ? refspec_tag : null,
    sync_tags,
    submodules,
    force_fetch,
    update_head,
    defaultBranch: null,
  };
  try {
    refuseEncoding(output_encoding);
    plainArg(wanted.rev, "value for the 'rev' argument");
    return await bringUp(ret, wanted, force_clone);
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};

const bringUp = async (
  ret: StateReturn,
  asked: DesiredCheckout,
  force_clone: boolean,
): Promise<StateReturn> => {
  const { name, url, path, rev, remote, user, login, bare, depth } = asked;
  if (isUserToCome(user)) return (await beforeClone(ret, name, path, force_clone)) ?? ret;
  const refs = await refsOf(url, login);
  if ('problem' in refs) return failed(ret, `Failed to check remote refs: ${refs.problem}`);
  const found = bare ? undefined : remoteRev(refs.refs, rev, remote);
  if (depth !== null && found?.kind !== 'branch' && found?.kind !== 'tag')
    return failed(
      ret,
      "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository",
    );
  if (!found && !bare && rev !== 'HEAD')
    return failed(ret, `No revision matching '${rev}' exists in the remote repository`);
  const wanted = { ...asked, defaultBranch: defaultBranch(refs.refs) };
  if (await isClone(path, user, bare))
    return bare ? updateBare(ret, wanted, refs.refs) : updateClone(ret, wanted, found, refs.refs);
  return (
    (await beforeClone(ret, name, path, force_clone)) ?? cloneNew(ret, wanted, found, refs.refs)
  );
};

const refsOf = async (
  url: string,
  login: DesiredCheckout['login'],
): Promise<{ refs: Refs } | { problem: string }> => {
  try {
    return { refs: await __salt__['git.ls_remote'](null, { remote: url, ...login }) };
  } catch (error) {
    return { problem: gitMessage(error) };
  }
};
