import { salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import { crontabError, tabOf } from '../../user-crontab.ts';

/**
 * Manages a variable in a user's crontab.
 *
 * @param name the variable
 * @param value its value
 * @param user the user
 *
 * @example
 * MAILTO:
 *   cron.env_present:
 *     - value: ops@example.com
 */
export const env_present = async (
  name: string,
  { value = null, user = 'root' }: { value?: string | number | null; user?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (__opts__.test) {
    const known = (await tabOf(user)).env.find(variable => variable.name === name);
    const changes = inPlan({ [user]: name });
    if (!known)
      return { ...ret, changes, result: null, comment: `Cron env ${name} is set to be added` };
    return known.value === String(value ?? '')
      ? { ...ret, comment: `Cron env ${name} already present` }
      : { ...ret, changes, result: null, comment: `Cron env ${name} is set to be updated` };
  }
  const status = await crontabError(() => salt('cron.set_env')(user, name, value));
  const changes = { [user]: name };
  if (status === 'present') return { ...ret, comment: `Cron env ${name} already present` };
  if (status === 'new')
    return { ...ret, changes, comment: `Cron env ${name} added to ${user}'s crontab` };
  if (status === 'updated') return { ...ret, changes, comment: `Cron env ${name} updated` };
  return failed(ret, `Cron env ${name} for user ${user} failed to commit with error \n${status}`);
};

/**
 * Makes sure that a variable is not in a user's crontab.
 *
 * @param name the variable
 * @param user the user
 *
 * @example
 * MAILTO:
 *   cron.env_absent: []
 */
export const env_absent = async (
  name: string,
  { user = 'root' }: { user?: string } = {},
): Promise<StateReturn> => {
  const variable = name.trim();
  const ret = newReturn(variable);
  if (__opts__.test)
    return (await tabOf(user)).env.some(each => each.name === variable)
      ? {
          ...ret,
          changes: inPlan({ [user]: variable }),
          result: null,
          comment: `Cron env ${variable} is set to be removed`,
        }
      : { ...ret, comment: `Cron env ${variable} is absent` };
  const status = await crontabError(() => salt('cron.rm_env')(user, variable));
  if (status === 'absent') return { ...ret, comment: `Cron env ${variable} already absent` };
  if (status === 'removed')
    return {
      ...ret,
      changes: { [user]: variable },
      comment: `Cron env ${variable} removed from ${user}'s crontab`,
    };
  return failed(ret, `Cron env ${variable} for user ${user} failed to commit with error ${status}`);
};
