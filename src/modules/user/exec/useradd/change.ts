import { rootFlags } from '../../../_shared/commands/other-root.ts';
import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { gecosText } from '../../gecos.ts';
import {
  findUser,
  groupsOf,
  localGroups,
  runUserTool,
  type SystemRoot,
  tool,
} from '../../user-tools.ts';

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
 * @param loginclass refused: login classes are of BSD
 * @param nologinit true: leave lastlog and faillog alone
 * @param usergroup true: with a group of its own; false: without
 * @param root the folder of another system to work on
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
    loginclass = null,
    nologinit = false,
    root = null,
    usergroup = null,
  }: AddOptions = {},
): Promise<boolean> => {
  if (loginclass)
    throw new SaltInvocationError(
      'The argument "loginclass" of user.add is not supported: login classes are of BSD.',
    );
  const primary = gid ?? (await ownGroup(name, usergroup, groups, root));
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
    ...rootFlags(root),
    '--',
    name,
  ]);
  const further = (groups ?? []).filter(group => String(group) !== String(primary));
  return further.length === 0 || chgroups(name, further, false, root);
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
  root?: string | null;
};

/** useradd refuses to make a group that is there already: then that group is the primary one. */
const ownGroup = async (
  name: string,
  usergroup: boolean | null,
  groups: readonly string[] | null,
  root: string | null,
): Promise<string | null> => {
  if (usergroup === false) return null;
  const exists = (await localGroups(root)).some(group => group.name === name);
  return exists && (usergroup === true || (groups ?? []).includes(name)) ? name : null;
};

/**
 * Removes an account.
 *
 * @param name the account
 * @param remove true: with its home and mail
 * @param force true: even when it is logged in
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.delete deploy remove=True
 */
export const delete_ = async (
  name: string,
  {
    remove = false,
    force = false,
    root = null,
  }: { remove?: boolean; force?: boolean; root?: string | null } = {},
): Promise<boolean> => {
  const argv = [
    'userdel',
    ...(remove ? ['-r'] : []),
    ...(force ? ['-f'] : []),
    ...rootFlags(root),
    '--',
    name,
  ];
  const { code, stderr } = await runUserTool(argv as [string, ...string[]]);
  // Debian's userdel exits with 12 when the mail spool is missing.
  if (code === 0 || (code === 12 && /var\/(spool\/)?mail/.test(stderr))) return true;
  throw new CommandExecutionError(stderr.trim() || `userdel failed with status ${code}`);
};

export const __func_alias__ = { delete_: 'delete' };

/** Changes an account by usermod. */
const modify = (name: string, options: readonly string[], root: SystemRoot): Promise<true> =>
  tool(['usermod', ...options, ...rootFlags(root), '--', name]);

/**
 * Changes an account's number.
 *
 * @param name the account
 * @param uid its new number
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chuid deploy 4376
 */
export const chuid = async (
  name: string,
  uid: number,
  root: string | null = null,
): Promise<boolean> => modify(name, ['-u', String(uid)], root);

/**
 * Changes an account's primary group.
 *
 * @param name the account
 * @param gid the group, name or number
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chgid deploy 4376
 */
export const chgid = async (
  name: string,
  gid: number | string,
  root: string | null = null,
): Promise<boolean> => modify(name, ['-g', String(gid)], root);

/**
 * Changes an account's login shell.
 *
 * @param name the account
 * @param shell the shell
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chshell deploy /bin/zsh
 */
export const chshell = async (
  name: string,
  shell: string,
  root: string | null = null,
): Promise<boolean> => modify(name, ['-s', shell], root);

/**
 * Changes an account's home folder.
 *
 * @param name the account
 * @param home the folder
 * @param persist true: move what is in the old one
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chhome deploy /srv/deploy persist=True
 */
export const chhome = async (
  name: string,
  home: string,
  { persist = false, root = null }: { persist?: boolean; root?: string | null } = {},
): Promise<boolean> => modify(name, ['-d', home, ...(persist ? ['-m'] : [])], root);

/**
 * Changes the groups an account is in besides its primary one.
 *
 * @param name the account
 * @param groups names of groups, a list or a text with commas
 * @param append true: keep the groups it is in already
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.chgroups deploy wheel,root
 */
export const chgroups = async (
  name: string,
  groups: string | string[],
  append = false,
  root: string | null = null,
): Promise<boolean> => {
  const wanted = toList(groups);
  const account = await findUser(name, root);
  const now = new Set(account ? await groupsOf(account, root) : []);
  const primary = (await localGroups(root)).find(({ gid }) => gid === account?.gid)?.name;
  const isDone = append
    ? wanted.every(group => now.has(group))
    : wanted.every(group => now.has(group)) &&
      [...now].every(group => group === primary || wanted.includes(group));
  if (isDone) return true;
  return modify(name, ['-G', wanted.join(','), ...(append ? ['-a'] : [])], root);
};

/**
 * Renames an account.
 *
 * @param name the account
 * @param new_name its new name
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.rename deploy release
 */
export const rename = async (
  name: string,
  new_name: string,
  root: string | null = null,
): Promise<boolean> => {
  if (!(await findUser(name, root)))
    throw new CommandExecutionError(`User '${name}' does not exist`);
  if (await findUser(new_name, root))
    throw new CommandExecutionError(`User '${new_name}' already exists`);
  return modify(name, ['-l', new_name], root);
};
