/** Working copies and exports of Subversion repositories. */

import { basename, dirname, resolve } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { which } from '../../_shared/commands/which.ts';
import { exists, isDir } from '../../_shared/files/file-paths.ts';
import { readdirSync } from '../../_shared/safe-fs/fs.ts';
import { redactPasswords } from '../../_shared/sources/url-login.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { runSvn, type SvnWhere, svnRevision } from '../svn-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('svn') !== undefined || [false, 'Command not found: svn'];

type Wish = {
  target?: string | null;
  rev?: string | number | null;
  /** the account to run svn as */
  user?: string | null;
  /** the user for the server */
  username?: string | null;
  /** the user's password; it is not passed in a command line */
  password?: string | null;
  force?: boolean;
  /** false: leave what comes from elsewhere */
  externals?: boolean;
  /** true: trust an unknown certificate of the server */
  trust?: boolean;
  /** the failures to ignore, with commas (`unknown-ca,expired`) */
  trust_failures?: string | null;
};

/** The options of svn for the desired state. */
const optionsOf = ({ force, externals, trust, trust_failures }: Wish): string[] => [
  ...(force ? ['--force'] : []),
  ...(externals === false ? ['--ignore-externals'] : []),
  ...(trust ? ['--trust-server-cert'] : []),
  ...(trust_failures ? ['--trust-server-cert-failures', trust_failures] : []),
];

const whereOf = (target: string, { user, username, password }: Wish): SvnWhere => ({
  cwd: dirname(resolve(target)),
  user,
  username,
  password,
});

/**
 * A folder is a working copy at a revision, the newest one when none is given.
 *
 * @param name the address, as `svn checkout` takes it
 * @param target the folder
 * @param rev the revision
 * @param force true: go on where files are in the way
 * @example
 * https://svn.example.org/app/trunk:
 *   svn.latest:
 *     - target: /srv/app
 */
export const latest = async (
  name: string,
  {
    target = null,
    rev = null,
    user = null,
    username = null,
    password = null,
    force = false,
    externals = true,
    trust = false,
    trust_failures = null,
  }: Wish = {},
): Promise<StateReturn> => {
  if (!target) return failed(name, 'Target option is required');
  if (exists(target) && !isDir(target))
    return failed(name, `The path "${target}" exists and is not a directory.`);
  const wish = { rev, user, username, password, force, externals, trust, trust_failures };
  try {
    const where = whereOf(target, wish);
    const known = isDir(target) ? await svnRevision(where, ['--', atPath(target)]) : undefined;
    if (__opts__.test) return await tell(name, target, known, wish);
    return known === undefined
      ? await checkOut(name, target, wish)
      : await update(name, target, known, wish);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/** A path as svn takes it: what follows an @ in its last part would be a revision. */
const atPath = (path: string): string => {
  const last = basename(resolve(path));
  return last.includes('@') ? `${last}@` : last;
};

const revisionArgs = (rev: Wish['rev']): string[] => (rev ? ['-r', String(rev)] : []);

const checkOut = async (name: string, target: string, wish: Wish): Promise<StateReturn> => {
  const where = whereOf(target, wish);
  const from = ['--', name, basename(resolve(target))];
  const args = [...revisionArgs(wish.rev), ...optionsOf(wish), ...from];
  const comment = await runSvn('checkout', where, args);
  const revision = (await svnRevision(where, ['--', atPath(target)])) ?? null;
  return changed(name, comment, { new: redactPasswords(name), revision });
};

const update = async (
  name: string,
  target: string,
  known: string,
  wish: Wish,
): Promise<StateReturn> => {
  const where = whereOf(target, wish);
  const args = [...revisionArgs(wish.rev), ...optionsOf(wish), '--', atPath(target)];
  const comment = await runSvn('update', where, args);
  const now = await svnRevision(where, ['--', atPath(target)]);
  const changes: PlainDict = now === known ? {} : { revision: `${known} => ${now}` };
  return changed(name, comment, changes);
};

/** Returns the result of test mode. */
const tell = async (
  name: string,
  target: string,
  known: string | undefined,
  wish: Wish,
): Promise<StateReturn> => {
  const wanted = String(wish.rev || 'HEAD');
  if (known === undefined && isDir(target) && readdirSync(target).length > 0 && !wish.force)
    return failed(name, `${target} exists but is not a svn working copy.`);
  if (known === undefined)
    return would(
      name,
      `${target} doesn't exist and is set to be checked out at revision ${wanted}.`,
      { new: redactPasswords(name) },
    );
  const where = whereOf(target, wish);
  const trusting = optionsOf({
    trust: wish.trust ?? false,
    trust_failures: wish.trust_failures ?? null,
  });
  const next = await svnRevision(where, [...trusting, '-r', wanted, '--', atPath(target)]);
  if (next === known) return unchanged(name, `${target} is at revision ${known}.`);
  const range = ['-r', `${known}:${wanted}`];
  const difference = await runSvn('diff', where, [...range, ...trusting, '--', atPath(target)]);
  return would(name, difference, { revision: `${known} => ${next ?? wanted}` });
};

/**
 * A folder or file of a repository is here, without being a working copy. It is fetched in every run.
 *
 * @param name the address
 * @param target the folder or file it becomes
 * @param rev the revision, the newest one when not given
 * @param force true: write over what is there
 * @param overwrite true: the target may be a file
 * @example
 * https://svn.example.org/app/tags/1.0:
 *   svn.export:
 *     - target: /srv/app
 *     - force: true
 */
export const export_ = async (
  name: string,
  {
    target = null,
    rev = null,
    user = null,
    username = null,
    password = null,
    force = false,
    overwrite = false,
    externals = true,
    trust = false,
    trust_failures = null,
  }: Wish & { overwrite?: boolean } = {},
): Promise<StateReturn> => {
  if (!target) return failed(name, 'Target option is required');
  if (!overwrite && exists(target) && !isDir(target))
    return failed(name, `The path "${target}" exists and is not a directory.`);
  const shown = redactPasswords(name);
  const changes = { new: shown, comment: `${shown} was Exported to ${target}` };
  if (__opts__.test && exists(target) && !force)
    return failed(name, `${target} exists, and without force nothing is written over it.`);
  if (__opts__.test)
    return exists(target)
      ? would(name, `${target} would be written over.`, { new: shown })
      : would(name, `${target} doesn't exist and is set to be checked out.`, { new: shown });
  try {
    const options = optionsOf({ force, externals, trust, trust_failures });
    const args = [...options, '-r', String(rev || 'HEAD'), '--', name, atPath(target)];
    const where = whereOf(target, { user, username, password });
    return changed(name, await runSvn('export', where, args), changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

export const __func_alias__ = { export_: 'export' };
