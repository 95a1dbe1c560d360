/**
 * Working copies and repositories of Subversion. Passwords go to svn by a pipe.
 *
 * @depends svn
 */

import { which } from '../../_shared/commands/which.ts';
import { splitCommandArgs } from '../../_shared/text/command-args.ts';
import type { Plain } from '../../api.ts';
import { runSvn, type SvnWhere, svnFacts } from '../svn-run.ts';

export const __virtual__ = (): true | [false, string] =>
  which('svn') !== undefined || [false, 'svn is not installed.'];

type Maybe = string | null;
type Options = (string | number)[];

const words = (opts: Options): string[] => opts.map(String);
const targetsOf = (targets: Maybe): string[] => (targets ? splitCommandArgs(targets) : []);
const messageOf = (msg: Maybe): string[] => (msg ? ['-m', msg] : []);

/**
 * Returns svn's information on files, folders or URLs.
 *
 * @param cwd the folder to run in
 * @param targets files, folders or URLs, with blanks between; the folder when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param fmt `str` and `xml`: as svn says it; `list`: pairs, `dict`: by name, of each target
 * @example tsalt-ssh '*' svn.info /srv/app fmt=dict
 */
export const info = async (
  cwd: string,
  targets: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  fmt = 'str',
): Promise<Plain> => {
  const args = [...(fmt === 'xml' ? ['--xml'] : []), ...targetsOf(targets)];
  const text = await runSvn('info', { cwd, user, username, password }, args);
  if (fmt === 'str' || fmt === 'xml') return text;
  const facts = svnFacts(text);
  if (fmt === 'list') return facts;
  return fmt === 'dict' ? facts.map(each => Object.fromEntries(each)) : null;
};

const fromAddress = (
  command: string,
  where: SvnWhere,
  remote: string,
  target: Maybe,
  opts: readonly string[],
): Promise<string> => runSvn(command, where, [...opts, '--', remote, ...(target ? [target] : [])]);

/**
 * Makes a working copy.
 *
 * @param cwd the folder to run in
 * @param remote the address
 * @param target the folder or file it becomes; the last part of the address when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.checkout /srv svn://svn.example.org/app/trunk app
 */
export const checkout = async (
  cwd: string,
  remote: string,
  target: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> =>
  fromAddress('checkout', { cwd, user, username, password }, remote, target, words(opts));

/**
 * Makes a working copy one of another address.
 *
 * @param cwd the folder to run in
 * @param remote the address
 * @param target the folder or file it becomes; the last part of the address when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.switch /srv/app svn://svn.example.org/app/branches/two
 */
export const switch_ = async (
  cwd: string,
  remote: string,
  target: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> =>
  fromAddress('switch', { cwd, user, username, password }, remote, target, words(opts));

export const __func_alias__ = { switch_: 'switch', export_: 'export' };

const inCopy = (
  command: string,
  where: SvnWhere,
  opts: Options,
  targets: Maybe,
  msg: Maybe = null,
): Promise<string> =>
  runSvn(command, where, [...words(opts), ...messageOf(msg), ...targetsOf(targets)]);

/**
 * Brings a working copy to the newest revision.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between; the folder when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.update /srv/app
 */
export const update = async (
  cwd: string,
  targets: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('update', { cwd, user, username, password }, opts, targets);

/**
 * Returns the diff of a working copy.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between; the folder when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.diff /srv/app
 */
export const diff = async (
  cwd: string,
  targets: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('diff', { cwd, user, username, password }, opts, targets);

/**
 * Sends what was changed in a working copy to the repository.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between; the folder when not given
 * @param msg the log message
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.commit /srv/app msg='Say hello'
 */
export const commit = async (
  cwd: string,
  targets: Maybe = null,
  msg: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('commit', { cwd, user, username, password }, opts, targets, msg);

/**
 * Takes files into a working copy; `svn.commit` sends them.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.add /srv/app new.txt
 */
export const add = async (
  cwd: string,
  targets: string,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('add', { cwd, user, username, password }, opts, targets);

/**
 * Removes files from a working copy, or, with `msg`, addresses from their repository.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between
 * @param msg the log message
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.remove /srv/app old.txt
 */
export const remove = async (
  cwd: string,
  targets: string,
  msg: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('remove', { cwd, user, username, password }, opts, targets, msg);

/**
 * Lists the changed and the unversioned files of a working copy.
 *
 * @param cwd the folder to run in
 * @param targets files and folders, with blanks between; the folder when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.status /srv/app
 */
export const status = async (
  cwd: string,
  targets: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  ...opts: Options
): Promise<string> => inCopy('status', { cwd, user, username, password }, opts, targets);

/**
 * Exports a folder or file, without making a working copy.
 *
 * @param cwd the folder to run in
 * @param remote the address
 * @param target the folder or file it becomes; the last part of the address when not given
 * @param user the account to run as
 * @param username the user for the server
 * @param password the user's password
 * @param revision the revision
 * @param opts further options for svn
 * @example tsalt-ssh '*' svn.export /srv svn://svn.example.org/app/trunk app
 */
export const export_ = async (
  cwd: string,
  remote: string,
  target: Maybe = null,
  user: Maybe = null,
  username: Maybe = null,
  password: Maybe = null,
  revision: string | number = 'HEAD',
  ...opts: Options
): Promise<string> =>
  fromAddress('export', { cwd, user, username, password }, remote, target, [
    ...words(opts),
    '-r',
    String(revision),
  ]);
