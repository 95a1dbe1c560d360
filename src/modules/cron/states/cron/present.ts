/** Manages jobs and variables in the crontabs of users. */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';
import { type CronJobOptions, type CronTimes, changedJob, isSameJob } from '../../cron-job.ts';
import { crontabError, tabOf } from '../../user-crontab.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('cron.list_tab') || [false, 'cron.list_tab is not available: there is no crontab.'];

type CronOptions = CronTimes &
  CronJobOptions & {
    /** the user */
    user?: string;
    special?: string | null;
  };

/**
 * Manages a job in a user's crontab.
 *
 * @param name the command
 * @param minute when; `random` picks a time if the job has none yet
 * @param hour when
 * @param daymonth when
 * @param month when
 * @param dayweek when
 * @param comment a comment above the job; by default, an existing comment is kept
 * @param identifier finds the job again when its command changes; the command when left out;
 *   null for a job that has none
 * @param special `@reboot`, `@daily` … instead of the times
 *
 * @example
 * /usr/local/bin/backup:
 *   cron.present:
 *     - user: root
 *     - minute: random
 *     - hour: 2
 */
export const present = async (
  name: string,
  {
    user = 'root',
    minute = '*',
    hour = '*',
    daymonth = '*',
    month = '*',
    dayweek = '*',
    comment = null,
    commented = false,
    identifier = false,
    special = null,
  }: CronOptions = {},
): Promise<StateReturn> => {
  const cmd = name.trim();
  const ret = newReturn(cmd);
  const id = identifier === false ? cmd : identifier;
  const options = { comment, commented, identifier: id };
  const times = { minute, hour, daymonth, month, dayweek };
  if (__opts__.test) {
    const { crons, special: specials } = await tabOf(user);
    const jobs = special === null ? crons : specials;
    const known = jobs.find(job => isSameJob(job, cmd, id));
    const changes = inPlan({ [user]: cmd });
    if (!known) return { ...ret, changes, result: null, comment: `Cron ${cmd} is set to be added` };
    const when = special === null ? times : { spec: special };
    return changedJob(known, { cmd, when, ...options })
      ? { ...ret, changes, result: null, comment: `Cron ${cmd} is set to be updated` }
      : { ...ret, comment: `Cron ${cmd} already present` };
  }
  const status = await crontabError(() =>
    special === null
      ? salt('cron.set_job')(user, minute, hour, daymonth, month, dayweek, cmd, options)
      : salt('cron.set_special')(user, special, cmd, options),
  );
  if (status === 'present') return { ...ret, comment: `Cron ${cmd} already present` };
  if (status === 'new')
    return { ...ret, changes: { [user]: cmd }, comment: `Cron ${cmd} added to ${user}'s crontab` };
  if (status === 'updated')
    return { ...ret, changes: { [user]: cmd }, comment: `Cron ${cmd} updated` };
  return failed(ret, `Cron ${cmd} for user ${user} failed to commit with error \n${status}`);
};

/**
 * Makes sure that a job is not in a user's crontab.
 *
 * @param name the command
 * @param identifier its identifier; by default, the command
 * @param special `@reboot`, `@daily` …, if the job has such a time
 * @unknown ignored
 *
 * @example
 * /usr/local/bin/backup:
 *   cron.absent: []
 */
export const absent = async (
  name: string,
  {
    user = 'root',
    identifier = false,
    special = null,
  }: Pick<CronOptions, 'user' | 'identifier' | 'special'> = {},
): Promise<StateReturn> => {
  const cmd = name.trim();
  const ret = newReturn(cmd);
  const id = identifier === false ? cmd : identifier;
  if (__opts__.test) {
    const jobs = (await tabOf(user))[special === null ? 'crons' : 'special'];
    return jobs.some(job => isSameJob(job, cmd, id))
      ? {
          ...ret,
          changes: inPlan({ [user]: cmd }),
          result: null,
          comment: `Cron ${cmd} is set to be removed`,
        }
      : { ...ret, comment: `Cron ${cmd} is absent` };
  }
  const fun = special === null ? 'cron.rm_job' : 'cron.rm_special';
  const status = await crontabError(() => salt(fun)(user, cmd, { identifier: id }));
  if (status === 'absent') return { ...ret, comment: `Cron ${cmd} already absent` };
  if (status === 'removed')
    return {
      ...ret,
      changes: { [user]: cmd },
      comment: `Cron ${cmd} removed from ${user}'s crontab`,
    };
  return failed(ret, `Cron ${cmd} for user ${user} failed to commit with error ${status}`);
};
