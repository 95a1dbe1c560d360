/** Accounts of the system. */
import { statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import {
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../api.ts';
import { readGroups } from '../lib/accounts.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { type Description, describedState } from '../lib/describe.ts';
import { pyRepr, pyStr } from '../lib/python-text.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';
import { toList } from '../lib/values.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('user.info') || [false, 'user.info is not available on this host.'];

type PresentOptions = {
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

type User = {
  uid: number;
  gid: number;
  groups: string[];
  home: string;
  shell: string;
} & PlainDict;

const redacted = 'XXX-REDACTED-XXX';
const gecosFields = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const;

/** shadow(5)'s ages: the argument, the field, the function that sets it. */
const ages = [
  ['mindays', 'min', 'minimum days'],
  ['maxdays', 'max', 'maximum days'],
  ['inactdays', 'inact', 'inactive days'],
  ['warndays', 'warn', 'warn days'],
  ['expire', 'expire', 'expire days'],
] as const;

/**
 * An account is there, with these properties.
 *
 * @param name the account
 * @param uid its number; changing the one of an account that is there needs `allow_uid_change`
 * @param gid its primary group, name or number; changing it needs `allow_gid_change`
 * @param usergroup true: with a group of its own name; false: without, when it is made
 * @param groups groups it is in, all of which must exist
 * @param optional_groups groups it is in where they exist
 * @param remove_groups false: it stays in other groups
 * @param home its home folder
 * @param createhome false: do not make the home folder
 * @param password the hash of its password, as in /etc/shadow
 * @param hash_password true: `password` is the password itself and is hashed here
 * @param enforce_password false: set the password only when the account has none yet
 * @param empty_password true: the account has an empty password
 * @param shell its login shell
 * @param unique false: the number may be taken already
 * @param system true: a system account, when it is made
 * @param fullname the person's name
 * @param roomnumber room
 * @param workphone phone at work
 * @param homephone phone at home
 * @param other anything else
 * @param date day of the last password change, in days since 1970
 * @param mindays days that a password must be kept
 * @param maxdays days for which a password is good
 * @param inactdays days after expiry in which the password can still be changed
 * @param warndays days of warning before the password expires
 * @param expire day on which the account expires, in days since 1970
 * @param nologinit true: leave lastlog and faillog alone when it is made
 * @param allow_uid_change true: the number of an account that is there may change
 * @param allow_gid_change true: the primary group of an account that is there may change
 * @param password_lock true: the password is locked; false: it is not
 * @param loginclass has no effect: the BSDs have login classes
 * @param win_homedrive has no effect here: for Windows
 * @param win_profile has no effect here: for Windows
 * @param win_logonscript has no effect here: for Windows
 * @param win_description has no effect here: for Windows
 * @example
 * deploy:
 *   user.present:
 *     - shell: /bin/bash
 *     - groups: [adm, www-data]
 */
export const present = async (name: string, options: PresentOptions = {}): Promise<StateReturn> => {
  const wanted = { ...options, groups: listOr(options.groups) };
  for (const field of ['fullname', 'roomnumber', 'workphone'] as const)
    if (String(wanted[field] ?? '').includes(','))
      return failed(name, `Unsupported char ',' in ${wanted[field]}`);
  const known = new Set((await readGroups()).map(group => group.name));
  const missing = (wanted.groups ?? []).filter(group => !known.has(group));
  if (missing.length > 0) {
    const comment = `The following group(s) are not present: ${missing.join(',')}`;
    // An earlier state of the run may be the one that makes them.
    return __opts__.test
      ? would(name, `${comment}; if created in this state run, the user would be checked`)
      : failed(name, comment);
  }
  const optional = toList(options.optional_groups).filter(group => known.has(group));
  try {
    const password = await hashOf(name, options);
    const state: Wanted = { ...wanted, password, optional };
    const user: User | PlainDict = await salt('user.info')(name);
    return 'uid' in user ? await update(name, user as User, state) : await create(name, state);
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
};

/**
 * An account is not there.
 *
 * @param name the account
 * @param purge true: its home and mail go with it
 * @param force true: even when it is logged in
 * @example
 * olduser:
 *   user.absent:
 *     - purge: true
 */
export const absent = async (
  name: string,
  { purge = false, force = false }: { purge?: boolean; force?: boolean } = {},
): Promise<StateReturn> => {
  const user: User | PlainDict = await salt('user.info')(name);
  if (!('uid' in user)) return unchanged(name, `User ${name} is not present`);
  if (__opts__.test) return would(name, `User ${name} set for removal`);
  const before = (user as User).groups;
  try {
    await salt('user.delete')(name, { remove: purge, force });
  } catch (error) {
    return failed(name, `Failed to remove user ${name}: ${messageOf(error)}`);
  }
  const after = new Set((await readGroups()).map(group => group.name));
  const gone = before.filter(group => !after.has(group));
  return changed(name, `Removed user ${name}`, {
    ...Object.fromEntries(gone.map(group => [`${group} group`, 'removed'])),
    [name]: 'removed',
  });
};

/** All accounts with their numbers, groups, homes, shells and names. Passwords stay where they are. */
export const describe = async (): Promise<Description> => {
  const users: (User & { name: string })[] = await salt('user.getent')();
  const groups = await readGroups();
  return Object.fromEntries(
    users.map(({ name, ...user }) => {
      const primary = groups.find(group => group.gid === user.gid)?.name;
      const gecos = gecosFields.filter(field => user[field]).map(field => [field, user[field]]);
      return [
        name,
        describedState('user.present', {
          uid: user.uid,
          gid: user.gid,
          groups: user.groups.filter(group => group !== primary),
          home: user.home || undefined,
          createhome: user.home && !isFolder(user.home) ? false : undefined,
          shell: user.shell || undefined,
          ...Object.fromEntries(gecos),
        }),
      ];
    }),
  );
};

type Wanted = Omit<PresentOptions, 'groups'> & {
  groups: string[] | null;
  optional: string[];
  password: string | null;
};

const listOr = (value: Plain | undefined): string[] | null =>
  value === null || value === undefined ? null : toList(value);

/** The password's hash; a plain one is hashed with the salt of the present one, so that it compares. */
const hashOf = async (
  name: string,
  { password = null, hash_password = false }: PresentOptions,
): Promise<string | null> => {
  if (password === null || password === '') return null;
  if (!hash_password) return String(password);
  const { passwd } = await salt('shadow.info')(name);
  const parts = /^\$([56])\$((?:rounds=\d+\$)?[^$]+)\$/.exec(String(passwd));
  return salt('shadow.gen_password')(
    String(password),
    parts ? { crypt_salt: parts[2], algorithm: parts[1] === '6' ? 'sha512' : 'sha256' } : {},
  );
};

/** What differs from what is wanted, by Salt's names. */
const changesDue = async (name: string, user: User, wanted: Wanted): Promise<PlainDict> => {
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
  const listed = groupsDue(name, user, wanted, [
    nameOf(gid === null ? user.gid : gidOf(gid)),
    nameOf(user.gid),
  ]);
  if (listed) due.groups = listed;
  if (wanted.home && user.home !== wanted.home) due.home = wanted.home;
  const home = wanted.home || user.home;
  if (wanted.createhome !== false && home && !isFolder(home)) due.homeDoesNotExist = home;
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
  { gid = null, usergroup }: Wanted,
  groups: readonly string[],
): string | number | null => (usergroup && groups.includes(name) ? name : gid);

/** The further groups as they should be; undefined when they are so. */
const groupsDue = (
  name: string,
  user: User,
  { groups, optional, remove_groups = true }: Wanted,
  primaries: readonly (string | undefined)[],
): string[] | undefined => {
  const named = [...(groups ?? []), ...optional];
  const isOpen = !remove_groups || (groups === null && optional.length === 0);
  const wanted = [...new Set(isOpen ? [...named, ...user.groups] : named)]
    .filter(group => group !== primaries[0])
    .sort();
  const have = user.groups.filter(
    group => !primaries.includes(group) && (group !== name || wanted.includes(name)),
  );
  const missing = wanted.some(group => !user.groups.includes(group));
  const extra = remove_groups && have.some(group => !wanted.includes(group));
  return missing || extra ? wanted : undefined;
};

const shadowDue = async (name: string, wanted: Wanted): Promise<PlainDict> => {
  if (!hasFunction('shadow.info')) return {};
  const entry: PlainDict = await salt('shadow.info')(name);
  const now = String(entry.passwd ?? '');
  const due: PlainDict = {};
  const { password, empty_password, enforce_password = true, password_lock, date } = wanted;
  const hasNone = now === (await salt('shadow.default_hash')());
  if (password !== null && !empty_password && (hasNone || enforce_password) && now !== password)
    due.passwd = password;
  if (empty_password && now !== '') due.empty_password = true;
  if (date !== null && date !== undefined && entry.lstchg !== date) due.date = date;
  for (const [argument, field] of ages) {
    const value = wanted[argument];
    const isAsked = value !== null && value !== undefined && (argument !== 'expire' || value !== 0);
    if (isAsked && entry[field] !== value) due[argument] = value;
  }
  const isLocked = now.startsWith('!');
  if ((password_lock === true && !isLocked) || (password_lock === false && isLocked))
    due.password_lock = password_lock;
  return due;
};

const update = async (name: string, user: User, wanted: Wanted): Promise<StateReturn> => {
  const due = await changesDue(name, user, wanted);
  if (Object.keys(due).length === 0)
    return unchanged(name, `User ${name} is present and up to date`);
  const refused = refusal(user, due, wanted);
  if (refused) return failed(name, refused);
  if (__opts__.test) {
    const lines = Object.entries(due).map(
      ([key, value]) => `${key}: ${key === 'passwd' ? redacted : pyStr(value)}\n`,
    );
    return would(name, `The following user attributes are set to be changed:\n${lines.join('')}`);
  }
  const shadow: PlainDict = hasFunction('shadow.info') ? await salt('shadow.info')(name) : {};
  await apply(name, user, due, wanted);
  const after: PlainDict = await salt('user.info')(name);
  const shadowAfter: PlainDict = hasFunction('shadow.info') ? await salt('shadow.info')(name) : {};
  const changes: PlainDict = {};
  for (const [key, value] of Object.entries(after))
    if (pyRepr(value) !== pyRepr(user[key])) changes[key] = value;
  for (const [key, value] of Object.entries(shadowAfter))
    if (value !== shadow[key]) changes[key] = key === 'passwd' ? redacted : value;
  const left = await changesDue(name, after as User, wanted);
  if (Object.keys(left).length > 0) {
    const shown = 'passwd' in left ? { ...left, passwd: redacted } : left;
    return failed(name, `These values could not be changed: ${pyRepr(shown)}`, changes);
  }
  return changed(
    name,
    Object.keys(changes).length > 0
      ? `Updated user ${name}`
      : `User ${name} is present and up to date`,
    changes,
  );
};

const refusal = (
  user: User,
  due: PlainDict,
  { allow_uid_change = false, allow_gid_change = false }: Wanted,
): string | undefined => {
  const reason = (what: 'uid' | 'gid'): string =>
    `Changing ${what} (${user[what]} -> ${pyStr(due[what])}) not permitted, set allow_${what}_change to True to force this change. Note that this will not change file ownership.`;
  const errors = [
    ...(due.uid !== undefined && !allow_uid_change ? [reason('uid')] : []),
    ...(due.gid !== undefined && !allow_gid_change ? [reason('gid')] : []),
  ];
  return errors.length > 0
    ? `Encountered error checking for needed changes. Additional info follows:\n\n${errors.map(error => `- ${error}`).join('\n')}`
    : undefined;
};

const apply = async (name: string, user: User, due: PlainDict, wanted: Wanted): Promise<void> => {
  if (due.uid !== undefined) await salt('user.chuid')(name, due.uid);
  if (due.gid !== undefined) await salt('user.chgid')(name, due.gid);
  if (due.passwd !== undefined) await salt('shadow.set_password')(name, due.passwd);
  if (due.empty_password !== undefined) await salt('shadow.del_password')(name);
  if (due.password_lock === true) await salt('shadow.lock_password')(name);
  if (due.password_lock === false) await salt('shadow.unlock_password')(name);
  if (due.date !== undefined) await salt('shadow.set_date')(name, due.date);
  for (const [argument] of ages)
    if (due[argument] !== undefined) await salt(`shadow.set_${argument}`)(name, due[argument]);
  if (due.home !== undefined) await salt('user.chhome')(name, due.home, { persist: false });
  if (typeof due.homeDoesNotExist === 'string') await makeHome(due.homeDoesNotExist, name, user);
  if (due.shell !== undefined) await salt('user.chshell')(name, due.shell);
  for (const field of gecosFields)
    if (due[field] !== undefined) await salt(`user.ch${field}`)(name, due[field]);
  if (due.groups !== undefined)
    await salt('user.chgroups')(name, due.groups, wanted.remove_groups === false);
};

const makeHome = async (home: string, name: string, user: User): Promise<void> => {
  const { uid, gid }: PlainDict = await salt('user.info')(name);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await chown(home, Number(uid ?? user.uid), Number(gid ?? user.gid));
};

const create = async (name: string, wanted: Wanted): Promise<StateReturn> => {
  if (__opts__.test) return would(name, `User ${name} set to be added`);
  const { groups, optional, createhome = true } = wanted;
  await salt('user.add')(name, {
    uid: wanted.uid ?? null,
    gid: wanted.gid ?? null,
    groups: groups === null && optional.length === 0 ? null : [...(groups ?? []), ...optional],
    home: wanted.home ?? null,
    shell: wanted.shell ?? null,
    unique: wanted.unique ?? true,
    system: wanted.system ?? false,
    ...Object.fromEntries(gecosFields.map(field => [field, textOr(wanted[field])])),
    createhome,
    nologinit: wanted.nologinit ?? false,
    usergroup: wanted.usergroup ?? null,
  });
  const changes: PlainDict = await salt('user.info')(name);
  if (!createhome) changes.home = '';
  const problems: string[] = [];
  if (hasFunction('shadow.info')) await createShadow(name, wanted, changes, problems);
  return problems.length > 0
    ? failed(name, `User ${name} created but failed to ${problems.join(', ')}`, changes)
    : changed(name, `New user ${name} created`, changes);
};

const createShadow = async (
  name: string,
  wanted: Wanted,
  changes: PlainDict,
  problems: string[],
): Promise<void> => {
  if (wanted.password !== null && !wanted.empty_password) {
    if (!(await salt('shadow.set_password')(name, wanted.password)))
      problems.push(`set password to ${redacted}`);
    changes.password = redacted;
  } else if (wanted.empty_password) {
    if (!(await salt('shadow.del_password')(name))) problems.push('empty password');
    changes.password = '';
  }
  const { date = null } = wanted;
  if (date !== null) {
    if (!(await salt('shadow.set_date')(name, date)))
      problems.push(`set last change date to ${date}`);
    changes.date = date;
  }
  for (const [argument, , label] of ages) {
    const value = wanted[argument];
    if (!value) continue;
    if (!(await salt(`shadow.set_${argument}`)(name, value)))
      problems.push(`set ${label} to ${value}`);
    changes[argument] = value;
  }
  if (wanted.password_lock) await salt('shadow.lock_password')(name);
};

const textOr = (value: string | number | null | undefined): string | null =>
  value === null || value === undefined ? null : String(value);

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};
