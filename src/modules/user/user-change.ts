import { chown, mkdir } from '../_shared/safe-fs/promises.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../_shared/states/returns.ts';
import { plainRepr, plainStr } from '../_shared/text/python-text.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { ages, changesDue, type DesiredUser, gecosFields, type User } from './desired-user.ts';

const redacted = 'XXX-REDACTED-XXX';

/** Brings an account that is there to what is wanted. */
export const updateUser = async (
  name: string,
  user: User,
  wanted: DesiredUser,
): Promise<StateReturn> => {
  const due = await changesDue(name, user, wanted);
  if (Object.keys(due).length === 0)
    return unchanged(name, `User ${name} is present and up to date`);
  const refused = refusal(user, due, wanted);
  if (refused) return failed(name, refused);
  if (__opts__.test) {
    const lines = Object.entries(due).map(
      ([key, value]) => `${key}: ${key === 'passwd' ? redacted : plainStr(value)}\n`,
    );
    return would(
      name,
      `The following user attributes are set to be changed:\n${lines.join('')}`,
      inPlan(predictedUpdate(user, due)),
    );
  }
  const shadow: PlainDict = hasFunction('shadow.info') ? await salt('shadow.info')(name) : {};
  await apply(name, user, due, wanted);
  const after: PlainDict = await salt('user.info')(name);
  const shadowAfter: PlainDict = hasFunction('shadow.info') ? await salt('shadow.info')(name) : {};
  const changes: PlainDict = {};
  for (const [key, value] of Object.entries(after))
    if (plainRepr(value) !== plainRepr(user[key])) changes[key] = value;
  for (const [key, value] of Object.entries(shadowAfter))
    if (value !== shadow[key]) changes[key] = key === 'passwd' ? redacted : value;
  const left = await changesDue(name, after as User, wanted);
  if (Object.keys(left).length > 0) {
    const shown = 'passwd' in left ? { ...left, passwd: redacted } : left;
    return failed(name, `These values could not be changed: ${plainRepr(shown)}`, changes);
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
  { allow_uid_change = false, allow_gid_change = false }: DesiredUser,
): string | undefined => {
  const reason = (what: 'uid' | 'gid'): string =>
    `Changing ${what} (${user[what]} -> ${plainStr(due[what])}) not permitted, set allow_${what}_change to True to force this change. Note that this will not change file ownership.`;
  const errors = [
    ...(due.uid !== undefined && !allow_uid_change ? [reason('uid')] : []),
    ...(due.gid !== undefined && !allow_gid_change ? [reason('gid')] : []),
  ];
  return errors.length > 0
    ? `Encountered error checking for needed changes. Additional info follows:\n\n${errors.map(error => `- ${error}`).join('\n')}`
    : undefined;
};

const apply = async (
  name: string,
  user: User,
  due: PlainDict,
  wanted: DesiredUser,
): Promise<void> => {
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

/** The properties that change, before and after. */
const predictedUpdate = (user: User, due: PlainDict): PlainDict =>
  Object.fromEntries(
    Object.entries(due).map(([key, value]) => [
      key,
      key === 'passwd' ? redacted : { old: user[key] ?? null, new: value },
    ]),
  );

/** Predicts the attributes of a new account. */
const predictedUser = (name: string, wanted: DesiredUser): PlainDict => {
  const { groups, optional, password } = wanted;
  const fields = ['uid', 'gid', 'home', 'shell', ...gecosFields] as const;
  const given = fields.filter(field => wanted[field] !== undefined && wanted[field] !== null);
  const all = [...(groups ?? []), ...optional];
  return {
    name,
    ...Object.fromEntries(given.map(field => [field, String(wanted[field])])),
    ...(all.length === 0 ? {} : { groups: all }),
    ...(password === null ? {} : { password: redacted }),
  };
};

/** Makes the account. */
export const createUser = async (name: string, wanted: DesiredUser): Promise<StateReturn> => {
  if (__opts__.test)
    return would(name, `User ${name} set to be added`, inPlan(predictedUser(name, wanted)));
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
  wanted: DesiredUser,
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
