import { readGroups } from '../_shared/commands/accounts.ts';
import { isDir } from '../_shared/files/file-paths.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import type { PlainDict } from '../api.ts';

/** The arguments of `user.present`. */
export type PresentOptions = {
  uid?: number | string | null;
  gid?: number | string | null;
  usergroup?: boolean | null;
  groups?: string | string[] | null;
  optional_groups?: string | string[] | null;
  remove_groups?: boolean;
  home?: string | null;
  createhome?: boolean;
  password?: string | null;
  hash_password?: boolean;
  enforce_password?: boolean;
  empty_password?: boolean;
  shell?: string | null;
  unique?: boolean;
  system?: boolean;
  fullname?: string | number | null;
  roomnumber?: string | number | null;
  workphone?: string | number | null;
  homephone?: string | number | null;
  other?: string | number | null;
  date?: number | null;
  mindays?: number | null;
  maxdays?: number | null;
  inactdays?: number | null;
  warndays?: number | null;
  expire?: number | null;
  nologinit?: boolean;
  allow_uid_change?: boolean;
  allow_gid_change?: boolean;
  password_lock?: boolean | null;
  loginclass?: string | null;
  win_homedrive?: string | null;
  win_profile?: string | null;
  win_logonscript?: string | null;
  win_description?: string | null;
};

/** The result of `user.info`. */
export type User = {
  uid: number;
  gid: number;
  groups: string[];
  home: string;
  shell: string;
} & PlainDict;

export const gecosFields = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const;

/** shadow(5)'s ages: the argument, the field, the function that sets it. */
export const ages = [
  ['mindays', 'min', 'minimum days'],
  ['maxdays', 'max', 'maximum days'],
  ['inactdays', 'inact', 'inactive days'],
  ['warndays', 'warn', 'warn days'],
  ['expire', 'expire', 'expire days'],
] as const;

/** The arguments after their first reading. */
export type DesiredUser = Omit<PresentOptions, 'groups'> & {
  groups: string[] | null;
  optional: string[];
  password: string | null;
};

/** The changes that are needed, by Salt's names. */
export const changesDue = async (
  name: string,
  user: User,
  wanted: DesiredUser,
): Promise<PlainDict> => {
  const due: PlainDict = {};
  const groups = await readGroups();
  const gidOf = (group: string | number): number | undefined =>
    groups.find(one => one.name === String(group))?.gid ??
    (/^\d+$/.test(String(group)) ? Number(group) : undefined);
  const nameOf = (gid: number | undefined): string | undefined =>
    groups.find(one => one.gid === gid)?.name;
  const gid = primaryGroup(
    name,
    wanted,
    groups.map(group => group.name),
  );
  const uid = wanted.uid ?? null;
  if (uid !== null && uid !== '' && user.uid !== Number(uid)) due.uid = Number(uid);
  if (gid !== null && user.gid !== gidOf(gid)) due.gid = gid;
  const listed = groupsDue(
    name,
    user,
    wanted,
    [nameOf(gid === null ? user.gid : gidOf(gid)), nameOf(user.gid)],
    gidOf,
  );
  if (listed) due.groups = listed;
  if (wanted.home && user.home !== wanted.home) due.home = wanted.home;
  const home = wanted.home || user.home;
  if (wanted.createhome !== false && home && !isDir(home)) due.homeDoesNotExist = home;
  if (wanted.shell && user.shell !== wanted.shell) due.shell = wanted.shell;
  Object.assign(due, await shadowDue(name, wanted));
  for (const field of gecosFields) {
    const value = wanted[field];
    if (value !== null && value !== undefined && user[field] !== String(value))
      due[field] = String(value);
  }
  return due;
};

const primaryGroup = (
  name: string,
  { gid = null, usergroup }: DesiredUser,
  groups: readonly string[],
): string | number | null => (usergroup && groups.includes(name) ? name : gid);

/** The further groups as they should be; undefined when they are so. */
export const groupsDue = (
  name: string,
  user: { readonly groups: readonly string[] },
  {
    groups,
    optional,
    remove_groups = true,
  }: Pick<DesiredUser, 'groups' | 'optional' | 'remove_groups'>,
  [primary, former]: readonly [string | undefined, string | undefined],
  gidOf: (group: string) => number | undefined,
): string[] | undefined => {
  const named = [...(groups ?? []), ...optional];
  const isOpen = !remove_groups || (groups === null && optional.length === 0);
  const isPrimary = (group: string): boolean =>
    primary !== undefined && (group === primary || gidOf(group) === gidOf(primary));
  // The group that was the primary one stays as a further one, where no groups are named.
  const wanted = [...new Set(isOpen ? [...named, ...user.groups] : named)]
    .filter(group => !isPrimary(group))
    .sort();
  const have = user.groups.filter(
    group => !isPrimary(group) && group !== former && (group !== name || wanted.includes(name)),
  );
  // Two names of one group are the same.
  const lacks = (among: readonly string[], group: string): boolean =>
    !among.some(other => other === group || gidOf(other) === gidOf(group));
  const missing = wanted.some(group => lacks(have, group));
  const extra = remove_groups && have.some(group => lacks(wanted, group));
  return missing || extra ? wanted : undefined;
};

const shadowDue = async (name: string, wanted: DesiredUser): Promise<PlainDict> => {
  if (!hasFunction('shadow.info')) return {};
  const entry: PlainDict = await salt('shadow.info')(name);
  const now = String(entry.passwd ?? '');
  const due: PlainDict = {};
  const { password, empty_password, enforce_password = true, password_lock, date } = wanted;
  const hasNone = now === (await salt('shadow.default_hash')());
  // A lock is a mark before the hash: the password below it is the same.
  const known = password_lock === true ? now.replace(/^!/, '') : now;
  if (password !== null && !empty_password && (hasNone || enforce_password) && known !== password)
    due.passwd = password;
  if (empty_password && now !== '') due.empty_password = true;
  if (date !== null && date !== undefined && entry.lstchg !== date) due.date = date;
  for (const [argument, field] of ages) {
    const value = wanted[argument];
    const isAsked = value !== null && value !== undefined && (argument !== 'expire' || value !== 0);
    if (isAsked && entry[field] !== value) due[argument] = value;
  }
  const isLocked = now.startsWith('!');
  const locks = password_lock === true && (!isLocked || due.passwd !== undefined);
  if (locks || (password_lock === false && isLocked)) due.password_lock = password_lock;
  return due;
};
