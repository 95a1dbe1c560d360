import { readdirSync } from 'node:fs';
import { messageOf } from '../../../protocol/error.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';
import { exists, expandUser, isAbs, isDir, isFile } from '../../lib/file-paths.ts';
import { cloneTo, findRef, type Refs, update, type Wanted } from '../../lib/git-latest.ts';
import { refuseEncoding } from '../../lib/git-options.ts';
import { loginFor, plainWord, redact } from '../../lib/git-run.ts';
import { failed, newReturn } from '../../lib/returns.ts';
import { isUserToCome } from '../../lib/to-come.ts';

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
 * @param name URL of the repository; a password in it is written down nowhere
 * @param target directory of the clone
 * @param rev branch, tag or commit; HEAD is the remote's default branch
 * @param branch name of the local branch, when it is another one
 * @param user run git as this user, who owns the clone then
 * @param update_head false: leave a clone that is there at its commit
 * @param force_checkout discard local changes when another branch is checked out
 * @param force_clone remove what is in the target directory and is no repository
 * @param force_fetch fetch what is no fast-forward
 * @param force_reset true: discard local commits and changes; `remote-changes`: only when the remote moved
 * @param submodules update submodules
 * @param bare make a bare clone
 * @param mirror make a mirror
 * @param remote name of the remote
 * @param fetch_tags fetch all tags
 * @param sync_tags false: keep tags that the remote does not have any more
 * @param depth fetch so many commits of history
 * @param identity private key, or keys, on this host to log in with
 * @param https_user name to log in with, over https; it is written down nowhere
 * @param https_pass its password
 * @param password has no effect: users of Windows need it
 * @param refspec_branch glob of the branches to fetch
 * @param refspec_tag glob of the tags to fetch
 * @param output_encoding what git says is UTF-8: another encoding is refused
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
  const path = expandUser(target);
  if (!isAbs(path)) return failed(ret, `target '${path}' is not an absolute path`);
  if (isFile(path))
    return failed(ret, `Target '${path}' exists and is a regular file, cannot proceed`);
  if ((bare || mirror) && rev !== 'HEAD')
    return failed(ret, "'rev' is not compatible with the 'mirror' and 'bare' arguments");
  const { url, ...https } = loginFor(name, https_user, https_pass);
  const login = { user, identity, ...https };
  const wanted: Wanted = {
    name,
    url,
    path,
    rev: String(rev),
    branch,
    remote,
    user,
    login,
    bare: bare || mirror,
    force_checkout,
    force_reset,
    fetchOptions: depth ? `--depth ${Number(depth)}` : '',
    branches: refspec_branch,
    // A clone of limited depth has few tags on purpose.
    tags: fetch_tags && !depth ? refspec_tag : null,
    sync_tags,
    submodules,
    force_fetch,
    update_head,
  };
  try {
    refuseEncoding(output_encoding);
    plainWord(wanted.rev, "value for the 'rev' argument");
    if (isUserToCome(user)) return predicted(ret, name, path);
    const refs: Refs = await __salt__['git.ls_remote']?.(null, { remote: url, ...login });
    const found = findRef(refs, wanted.rev);
    if (!found) return failed(ret, `No revision matching '${rev}' exists in the remote repository`);
    if (await __salt__['git.is_repo']?.(path, { user }))
      return await update(ret, wanted, found, refs);
    if (isDir(path) && readdirSync(path).length > 0 && !force_clone)
      return failed(
        ret,
        `Target '${path}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to remove this directory's contents and proceed with cloning the remote repository`,
      );
    const clears = exists(path) && readdirSync(path).length > 0;
    if (__opts__.test) return predicted(ret, name, path, clears);
    if (clears) {
      await __salt__['file.remove']?.(path);
      ret.changes['forced clone'] = true;
    }
    return await cloneTo(ret, wanted, found, { mirror, depth });
  } catch (error) {
    return failed(ret, redact(messageOf(error)));
  }
};

const predicted = (ret: StateReturn, name: string, path: string, clears = false): StateReturn => ({
  ...ret,
  result: null,
  changes: { ...(clears ? { 'forced clone': true } : {}), new: `${redact(name)} => ${path}` },
  comment: clears
    ? `Target directory ${path} exists. Since force_clone=True, the contents of ${path} would be deleted, and ${redact(name)} would be cloned into this directory.`
    : `Repository ${redact(name)} would be cloned to ${path}`,
});
