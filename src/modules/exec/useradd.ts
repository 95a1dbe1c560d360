/**
 * Accounts, by the shadow suite. Goes by the name `user`.
 *
 * @platform linux
 * @depends useradd, usermod, userdel
 */
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { type Account, readAccounts, readGroups } from '../lib/accounts.ts';
import { readOr } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { toList } from '../lib/values.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'user';

export const __virtual__ = (): string | [false, string] =>
  which('useradd')
    ? __virtualname__
    : [false, 'useradd is not there (on Alpine it is in the package "shadow").'];

/** What is known of an account. */
type UserInfo = {
  uid: number;
  gid: number;
  groups: string[];
  home: string;
  name: string;
  passwd: string;
  shell: string;
  fullname: string;
  roomnumber: string;
  workphone: string;
  homephone: string;
  other: string;
};

const run = (argv: readonly [string, ...string[]]) =>
  runCommand(argv, { plainLocale: true, cwd: '/' });

/** Runs a tool of the shadow suite; what it says is the error. */
const tool = async (argv: readonly [string, ...string[]]): Promise<void> => {
  const { code, stderr } = await run(argv);
  if (code !== 0)
    throw new CommandExecutionError(stderr.trim() || `${argv[0]} failed with status ${code}`);
};

/**
 * What is known of an account; an empty dict when there is none.
 *
 * @param name the account
 * @example tsalt-ssh '*' user.info root
 */
export const info = async (name: string): Promise<UserInfo | Record<string, never>> => {
  const account = await find(name);
  if (!account) return {};
  const [fullname = '', roomnumber = '', workphone = '', homephone = '', ...other] =
    account.gecos.split(',');
  return {
    uid: account.uid,
    gid: account.gid,
    groups: await groupsOf(account),
    home: account.home,
    name: account.name,
    passwd: account.passwd,
    shell: account.shell,
    fullname,
    roomnumber,
    workphone,
    homephone,
    other: other.join(','),
  };
};

const find = async (name: string): Promise<Account | undefined> => {
  const local = (await readAccounts()).find(account => account.name === name);
  if (local || !usesDirectory()) return local;
  const { code, stdout } = await run(['getent', 'passwd', '--', name]);
  const [first, passwd, uid, gid, gecos, home, shell] = stdout.trim().split(':');
  if (code !== 0 || !first || !uid || !gid) return undefined;
  return {
    name: first,
    passwd: passwd ?? 'x',
    uid: Number(uid),
    gid: Number(gid),
    gecos: gecos ?? '',
    home: home ?? '',
    shell: shell ?? '',
  };
};

/** Whether nsswitch.conf names a source besides the local files: only then is a lookup worth a process. */
const usesDirectory = (): boolean => {
  const line = /^passwd:(.*)$/m.exec(readOr('/etc/nsswitch.conf') ?? '')?.[1] ?? 'files';
  const local = ['files', 'compat', 'systemd', 'db', 'altfiles'];
  return (
    which('getent') !== undefined &&
    line
      .replace(/\[.*?\]/g, '')
      .split(/\s+/)
      .some(source => source !== '' && !source.startsWith('#') && !local.includes(source))
  );
};

const groupsOf = async ({ name, gid }: Account): Promise<string[]> =>
  (await readGroups())
    .filter(group => group.gid === gid || group.members.includes(name))
    .map(group => group.name)
    .sort();

/**
 * All local accounts.
 *
 * @example tsalt-ssh '*' user.getent
 */
export const getent = async (): Promise<(UserInfo | Record<string, never>)[]> => {
  const infos: (UserInfo | Record<string, never>)[] = [];
  for (const { name } of await readAccounts()) infos.push(await info(name));
  return infos;
};

/**
 * The names of all local accounts.
 *
 * @example tsalt-ssh '*' user.list_users
 */
export const list_users = async (): Promise<string[]> =>
  (await readAccounts()).map(account => account.name).sort();

/**
 * The groups that an account is in.
 *
 * @param name the account
 * @example tsalt-ssh '*' user.list_groups www-data
 */
export const list_groups = async (name: string): Promise<string[]> => {
  const account = await find(name);
  return account ? groupsOf(account) : [];
};

/**
 * The name of an account's primary group.
 *
 * @param name the account
 * @example tsalt-ssh '*' user.primary_group www-data
 */
export const primary_group = async (name: string): Promise<string> => {
  const account = await find(name);
  if (!account) return '';
  return (await readGroups()).find(group => group.gid === account.gid)?.name ?? '';
};

/**
 * Makes an account.
 *
 * @param name the account
 * @param uid its number
 * @param gid its primary group, name or number
 * @param groups further groups
 * @param home its home folder
 * @param shell its login shell
 * @param unique false: the number may be taken already
 * @param system true: a system account
 * @param fullname the person's name
 * @param roomnumber room
 * @param workphone phone at work
 * @param homephone phone at home
 * @param other anything else
 * @param createhome false: do not make the home folder
 * @param nologinit true: leave lastlog and faillog alone
 * @param usergroup true: with a group of its own; false: without
 * @example tsalt-ssh '*' user.add deploy groups='[adm]' shell=/bin/bash
 */
export const add = async (
  name: string,
  {
    uid = null,
    gid = null,
    groups = null,
    home = null,
    shell = null,
    unique = true,
    system = false,
    fullname = null,
    roomnumber = null,
    workphone = null,
    homephone = null,
    other = null,
    createhome = true,
    nologinit = false,
    usergroup = null,
  }: AddOptions = {},
): Promise<boolean> => {
  const primary = gid ?? (await ownGroup(name, usergroup, groups));
  const option = (flag: string, value: unknown): string[] =>
    value === null || value === undefined || value === '' ? [] : [flag, String(value)];
  await tool([
    'useradd',
    ...option('-s', shell),
    ...option('-u', uid),
    ...option('-g', primary),
    ...(primary === null && usergroup ? ['-U'] : []),
    ...(usergroup === false ? ['-N'] : []),
    createhome ? '-m' : '-M',
    ...(nologinit ? ['-l'] : []),
    ...option('-d', home),
    ...(unique ? [] : ['-o']),
    ...(system ? ['-r'] : []),
    ...option('-c', gecosText({ fullname, roomnumber, workphone, homephone, other })),
    '--',
    name,
  ]);
  const further = (groups ?? []).filter(group => String(group) !== String(primary));
  return further.length === 0 || chgroups(name, further, false);
};

type AddOptions = {
  uid?: number | string | null;
  gid?: number | string | null;
  groups?: string[] | null;
  home?: string | null;
  shell?: string | null;
  unique?: boolean;
  system?: boolean;
  fullname?: string | null;
  roomnumber?: string | null;
  workphone?: string | null;
  homephone?: string | null;
  other?: string | null;
  createhome?: boolean;
  nologinit?: boolean;
  usergroup?: boolean | null;
  loginclass?: string | null;
};

/** useradd refuses to make a group that is there already: then that group is the primary one. */
const ownGroup = async (
  name: string,
  usergroup: boolean | null,
  groups: readonly string[] | null,
): Promise<string | null> => {
  if (usergroup === false) return null;
  const exists = (await readGroups()).some(group => group.name === name);
  return exists && (usergroup === true || (groups ?? []).includes(name)) ? name : null;
};

const gecosFields = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const;
type Gecos = { readonly [field in (typeof gecosFields)[number]]?: string | null };

const gecosText = (gecos: Gecos): string => {
  const fields = gecosFields.map(field => {
    const text = String(gecos[field] ?? '');
    if (/[:\n]/.test(text) || (field !== 'other' && text.includes(',')))
      throw new SaltInvocationError(`Unsupported character in ${field}: ${text}`);
    return text;
  });
  return fields.join(',').replace(/,+$/, '');
};

/**
 * Removes an account.
 *
 * @param name the account
 * @param remove true: with its home and mail
 * @param force true: even when it is logged in
 * @example tsalt-ssh '*' user.delete deploy remove=True
 */
export const delete_ = async (
  name: string,
  { remove = false, force = false }: { remove?: boolean; force?: boolean } = {},
): Promise<boolean> => {
  const argv = ['userdel', ...(remove ? ['-r'] : []), ...(force ? ['-f'] : []), '--', name];
  const { code, stderr } = await run(argv as [string, ...string[]]);
  // Debian's userdel ends with 12 when there was no mail spool to remove.
  if (code === 0 || (code === 12 && /var\/(spool\/)?mail/.test(stderr))) return true;
  throw new CommandExecutionError(stderr.trim() || `userdel failed with status ${code}`);
};

export const __func_alias__ = { delete_: 'delete' };

const modify = async (name: string, option: string, value: string, more: string[] = []) => {
  await tool(['usermod', option, value, ...more, '--', name]);
  return true;
};

/**
 * Changes an account's number.
 *
 * @param name the account
 * @param uid its new number
 * @example tsalt-ssh '*' user.chuid deploy 4376
 */
export const chuid = async (name: string, uid: number): Promise<boolean> =>
  modify(name, '-u', String(uid));

/**
 * Changes an account's primary group.
 *
 * @param name the account
 * @param gid the group, name or number
 * @example tsalt-ssh '*' user.chgid deploy 4376
 */
export const chgid = async (name: string, gid: number | string): Promise<boolean> =>
  modify(name, '-g', String(gid));

/**
 * Changes an account's login shell.
 *
 * @param name the account
 * @param shell the shell
 * @example tsalt-ssh '*' user.chshell deploy /bin/zsh
 */
export const chshell = async (name: string, shell: string): Promise<boolean> =>
  modify(name, '-s', shell);

/**
 * Changes an account's home folder.
 *
 * @param name the account
 * @param home the folder
 * @param persist true: move what is in the old one
 * @example tsalt-ssh '*' user.chhome deploy /srv/deploy persist=True
 */
export const chhome = async (
  name: string,
  home: string,
  { persist = false }: { persist?: boolean } = {},
): Promise<boolean> => modify(name, '-d', home, persist ? ['-m'] : []);

/**
 * Changes the groups an account is in besides its primary one.
 *
 * @param name the account
 * @param groups names of groups, a list or a text with commas
 * @param append true: keep the groups it is in already
 * @example tsalt-ssh '*' user.chgroups deploy wheel,root
 */
export const chgroups = async (
  name: string,
  groups: string | string[],
  append = false,
): Promise<boolean> => {
  const wanted = toList(groups);
  const now = new Set(await list_groups(name));
  const primary = await primary_group(name);
  const isDone = append
    ? wanted.every(group => now.has(group))
    : wanted.every(group => now.has(group)) &&
      [...now].every(group => group === primary || wanted.includes(group));
  if (isDone) return true;
  return modify(name, '-G', wanted.join(','), append ? ['-a'] : []);
};

const changeGecos = async (
  name: string,
  field: (typeof gecosFields)[number],
  value: string,
): Promise<boolean> => {
  const before = await info(name);
  if (!('name' in before)) return false;
  return modify(name, '-c', gecosText({ ...before, [field]: value }));
};

/**
 * Changes the person's name of an account.
 *
 * @param name the account
 * @param fullname the person's name
 * @example tsalt-ssh '*' user.chfullname deploy "Foo Bar"
 */
export const chfullname = async (name: string, fullname: string): Promise<boolean> =>
  changeGecos(name, 'fullname', fullname);

/**
 * Changes the room of an account.
 *
 * @param name the account
 * @param roomnumber the room
 * @example tsalt-ssh '*' user.chroomnumber deploy 123
 */
export const chroomnumber = async (name: string, roomnumber: string): Promise<boolean> =>
  changeGecos(name, 'roomnumber', roomnumber);

/**
 * Changes the phone at work of an account.
 *
 * @param name the account
 * @param workphone the phone
 * @example tsalt-ssh '*' user.chworkphone deploy 7735550123
 */
export const chworkphone = async (name: string, workphone: string): Promise<boolean> =>
  changeGecos(name, 'workphone', workphone);

/**
 * Changes the phone at home of an account.
 *
 * @param name the account
 * @param homephone the phone
 * @example tsalt-ssh '*' user.chhomephone deploy 7735551234
 */
export const chhomephone = async (name: string, homephone: string): Promise<boolean> =>
  changeGecos(name, 'homephone', homephone);

/**
 * Changes the last field of an account's description.
 *
 * @param name the account
 * @param other the text
 * @example tsalt-ssh '*' user.chother deploy fubar
 */
export const chother = async (name: string, other: string): Promise<boolean> =>
  changeGecos(name, 'other', other);

/**
 * Gives an account another name.
 *
 * @param name the account
 * @param new_name its new name
 * @example tsalt-ssh '*' user.rename deploy release
 */
export const rename = async (name: string, new_name: string): Promise<boolean> => {
  if (!(await find(name))) throw new CommandExecutionError(`User '${name}' does not exist`);
  if (await find(new_name)) throw new CommandExecutionError(`User '${new_name}' already exists`);
  return modify(name, '-l', new_name);
};
