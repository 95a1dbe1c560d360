import { messageOf } from '../../../../protocol/error.ts';
import { readGroups } from '../../../_shared/commands/accounts.ts';
import { salt } from '../../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import type { User } from '../../desired-user.ts';

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
  if (__opts__.test)
    return would(name, `User ${name} set for removal`, inPlan({ [name]: 'removed' }));
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
