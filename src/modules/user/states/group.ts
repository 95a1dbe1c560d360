/** Groups of the system. */

import { hasFunction, salt } from '../../_shared/states/call.ts';
import { type Description, describedState } from '../../_shared/states/describe.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { toList } from '../../_shared/states/values.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import {
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('group.info') || [false, 'group.info is not available on this host.'];

type Members = string | string[] | null;

type PresentOptions = {
  gid?: number | string | null;
  system?: boolean;
  addusers?: Members;
  delusers?: Members;
  members?: Members;
  non_unique?: boolean;
};

type Wanted = {
  readonly gid: number | null;
  readonly addusers: string[] | null;
  readonly delusers: string[] | null;
  readonly members: string[] | null;
};

/**
 * A group is there, with these members if any are named.
 *
 * @param name the group
 * @param gid its number
 * @param system true: a system group, when it is made
 * @param addusers accounts that are to be members
 * @param delusers accounts that are not to be members
 * @param members exactly these accounts are members; not together with the two before
 * @param non_unique true: the number may be taken already
 * @example
 * deploy:
 *   group.present:
 *     - gid: 7648
 *     - addusers: [alice, bob]
 */
export const present = async (
  name: string,
  {
    gid = null,
    system = false,
    addusers = null,
    delusers = null,
    members = null,
    non_unique = false,
  }: PresentOptions = {},
): Promise<StateReturn> => {
  const conflict = conflictIn({ addusers, delusers, members });
  if (conflict) return failed(name, conflict);
  if (gid !== null && !/^\d+$/.test(String(gid))) return failed(name, 'Invalid gid');
  const wanted: Wanted = {
    gid: gid === null ? null : Number(gid),
    addusers: addusers === null ? null : toList(addusers),
    delusers: delusers === null ? null : toList(delusers),
    members: members === null ? null : toList(members),
  };
  try {
    const due = await changesDue(name, wanted);
    if (due === undefined) return await create(name, wanted, system, non_unique);
    return Object.keys(due).length === 0
      ? unchanged(name, `Group ${name} is present and up to date`)
      : await update(name, wanted, due, non_unique);
  } catch (error) {
    if (error instanceof CommandExecutionError) return failed(name, error.message);
    throw error;
  }
};

/**
 * A group is not there.
 *
 * @param name the group
 * @example
 * deploy:
 *   group.absent
 */
export const absent = async (name: string): Promise<StateReturn> => {
  if (!('gid' in (await salt('group.info')(name)))) return unchanged(name, 'Group not present');
  if (__opts__.test) return would(name, `Group ${name} is set for removal`, inPlan({ [name]: '' }));
  try {
    await salt('group.delete')(name);
    return changed(name, `Removed group ${name}`, { [name]: '' });
  } catch (error) {
    if (error instanceof CommandExecutionError)
      return failed(name, `Failed to remove group ${name}: ${error.message}`);
    throw error;
  }
};

/** All groups with their numbers and members. */
export const describe = async (): Promise<Description> => {
  const groups: { name: string; gid: number; members: string[] }[] = await salt('group.getent')();
  return Object.fromEntries(
    groups.map(({ name, gid, members }) => [
      name,
      describedState('group.present', { gid, members }),
    ]),
  );
};

const conflictIn = ({
  addusers,
  delusers,
  members,
}: {
  addusers: Members;
  delusers: Members;
  members: Members;
}): string | undefined => {
  if (members !== null && (addusers !== null || delusers !== null))
    return 'Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used together. ';
  const both = toList(addusers).filter(user => toList(delusers).includes(user));
  return both.length > 0
    ? 'Error. Same user(s) can not be added and deleted simultaneously'
    : undefined;
};

/** The changes that are needed; undefined when the group does not exist. */
const changesDue = async (
  name: string,
  { gid, addusers, delusers, members }: Wanted,
): Promise<PlainDict | undefined> => {
  const group: { gid?: number; members: string[] } = await salt('group.info')(name);
  if (group.gid === undefined) return undefined;
  const missing = (addusers ?? []).filter(user => !group.members.includes(user));
  const extra = (delusers ?? []).filter(user => group.members.includes(user));
  const differ =
    members !== null &&
    (members.some(user => !group.members.includes(user)) ||
      group.members.some(user => !members.includes(user)));
  return {
    ...(gid !== null && gid !== group.gid ? { gid } : {}),
    ...(differ ? (members.length > 0 ? { members } : { delusers: [...group.members] }) : {}),
    ...(missing.length > 0 ? { addusers: missing } : {}),
    ...(extra.length > 0 ? { delusers: extra } : {}),
  };
};

const update = async (
  name: string,
  wanted: Wanted,
  due: PlainDict,
  non_unique: boolean,
): Promise<StateReturn> => {
  const lines = Object.entries(due).map(([key, value]) => `${key}: ${plainStr(value)}\n`);
  const comment = `The following group attributes are set to be changed:\n${lines.join('')}`;
  if (__opts__.test) return would(name, comment, inPlan(due));
  const problems = await applyAll([
    ...(due.gid === undefined ? [] : [() => salt('group.chgid')(name, due.gid, { non_unique })]),
    ...listOf(due.addusers).map(user => () => salt('group.adduser')(name, user)),
    ...listOf(due.delusers).map(user => () => salt('group.deluser')(name, user)),
    ...(due.members === undefined
      ? []
      : [() => salt('group.members')(name, listOf(due.members).join(','))]),
  ]);
  const left = (await changesDue(name, wanted)) ?? {};
  return Object.keys(left).length > 0
    ? failed(name, [`${comment}Some changes could not be applied`, ...problems].join('\n'), {
        Failed: left,
      })
    : changed(name, comment, { Final: 'All changes applied successfully' });
};

/** Runs the steps one after the other; returns the errors of those that failed. */
const applyAll = async (steps: readonly (() => Promise<unknown>)[]): Promise<string[]> => {
  const problems: string[] = [];
  for (const step of steps)
    try {
      await step();
    } catch (error) {
      if (!(error instanceof CommandExecutionError)) throw error;
      problems.push(error.message);
    }
  return problems;
};

const create = async (
  name: string,
  wanted: Wanted,
  system: boolean,
  non_unique: boolean,
): Promise<StateReturn> => {
  const { gid } = wanted;
  const users = wanted.addusers ?? wanted.members ?? [];
  if (__opts__.test)
    return would(
      name,
      `Group ${name} set to be added`,
      inPlan({ name, ...(gid === null ? {} : { gid }), members: users }),
    );
  if (gid !== null && !non_unique) {
    const groups: { gid: number; name: string }[] = await salt('group.getent')();
    const taken = groups.find(group => group.gid === gid);
    if (taken)
      return failed(
        name,
        `Group ${name} is not present but gid ${gid} is already taken by group ${taken.name}`,
      );
  }
  await salt('group.add')(name, { gid, system, non_unique });
  const problems = await applyAll(
    users.length > 0 ? [() => salt('group.members')(name, users.join(','))] : [],
  );
  const left = (await changesDue(name, wanted)) ?? { group: name };
  if (Object.keys(left).length > 0)
    return failed(
      name,
      [`Group ${name} has been created but, some changes could not be applied`, ...problems].join(
        '\n',
      ),
      { Failed: left },
    );
  return changed(name, `New group ${name} created`, await salt('group.info')(name));
};

const listOf = (value: Plain | undefined): string[] => (value === undefined ? [] : toList(value));
