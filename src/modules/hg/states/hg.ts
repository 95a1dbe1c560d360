/** Clones of Mercurial repositories. */

import { join } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { which } from '../../_shared/commands/which.ts';
import { isDir } from '../../_shared/files/file-paths.ts';
import { readdirSync, rmSync } from '../../_shared/safe-fs/fs.ts';
import { redactPasswords } from '../../_shared/sources/url-login.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { hg, sshFlag } from '../hg-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('hg') !== undefined || [false, 'Command hg not found'];

type Wish = {
  rev?: string | number | null;
  target?: string | null;
  clean?: boolean;
  user?: string | null;
  identity?: string | null;
  force?: boolean;
  opts?: string | false | null;
  update_head?: boolean;
};

/**
 * Makes sure that a folder is a clone of a repository, at a revision, by default the newest one.
 *
 * @param name the URL, in the syntax of `hg clone`
 * @param rev a hash, branch, tag or bookmark
 * @param target the folder
 * @param clean true: discard local changes
 * @param user the account to run hg as
 * @param identity the file of a private SSH key, on the host
 * @param force true: remove an existing folder with its contents if it is not a clone
 * @param opts further options for hg
 * @param update_head false: fetch changes without updating the files
 * @example
 * https://hg.example.org/app:
 *   hg.latest:
 *     - rev: stable
 *     - target: /srv/app
 */
export const latest = async (
  name: string,
  {
    rev = null,
    target = null,
    clean = false,
    user = null,
    identity = null,
    force = false,
    opts = false,
    update_head = true,
  }: Wish = {},
): Promise<StateReturn> => {
  if (!target) return failed(name, '"target option is required');
  const wish = { rev, clean, user, identity, opts, update_head };
  try {
    if (isDir(join(target, '.hg'))) return await update(name, target, wish);
    const isThere = isDir(target);
    if (isThere && !force && readdirSync(target).length > 0)
      return failed(name, 'Directory exists, and is not empty');
    const shown = redactPasswords(name);
    if (__opts__.test)
      return would(name, `Repository ${shown} is about to be cloned to ${target}`, { new: shown });
    if (isThere) rmSync(target, { recursive: true });
    return await cloneTo(name, target, wish);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const current = (target: string, { user = null }: Wish): Promise<string> =>
  salt('hg.revision')(target, '.', false, user);

const cloneTo = async (name: string, target: string, wish: Wish): Promise<StateReturn> => {
  const { user = null, identity = null, opts = null, rev } = wish;
  const said: string = await salt('hg.clone')(target, name, opts, user, identity);
  if (!isDir(target)) return failed(name, said);
  if (rev) await salt('hg.update')(target, rev, false, user);
  const revision = await current(target, wish);
  const shown = redactPasswords(name);
  return changed(name, `Repository ${shown} cloned to ${target}`, { new: shown, revision });
};

const update = async (name: string, target: string, wish: Wish): Promise<StateReturn> => {
  const { user = null, identity = null, opts = null, rev, clean = false } = wish;
  const before = await current(target, wish);
  if (!before) return failed(name, `Seems that ${target} is not a valid hg repo`);
  if (__opts__.test) return await tell(name, target, before, wish);
  const pulled: string = await salt('hg.pull')(target, opts, user, identity, name);
  if (wish.update_head === false)
    return unchanged(
      name,
      pulled.includes('no changes found')
        ? 'No changes found and update_head=False so will skip updating.'
        : 'Update is probably required but update_head=False so we will skip updating.',
    );
  await salt('hg.update')(target, rev || 'tip', clean, user);
  const after = await current(target, wish);
  if (before !== after)
    return changed(name, `Repository ${target} updated.`, { revision: `${before} => ${after}` });
  return pulled.includes('error:')
    ? failed(name, `An error was thrown by hg:\n${pulled}`)
    : unchanged(name, '');
};

/** Reports the pending changes of a repository without changing it. */
const tell = async (
  name: string,
  target: string,
  before: string,
  { rev, user = null, identity = null, update_head }: Wish,
): Promise<StateReturn> => {
  const { code, stdout } = await hg(
    ['identify', '--debug', '-i', '-r', String(rev || 'tip'), ...sshFlag(identity), '--', name],
    { cwd: target, user },
  );
  const after = code === 0 ? stdout.trim() : undefined;
  if (after === before) return unchanged(name, `Repository ${target} is at revision ${before}`);
  if (update_head === false)
    return unchanged(
      name,
      'Update is probably required but update_head=False so we will skip updating.',
    );
  return would(
    name,
    `Repository ${target} update is probably required (current revision is ${before})`,
    { revision: `${before} => ${after ?? rev ?? 'tip'}` },
  );
};
