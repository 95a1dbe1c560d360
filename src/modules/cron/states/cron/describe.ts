import { userInfo } from 'node:os';
import { existsSync, readdirSync } from '../../../_shared/safe-fs/fs.ts';
import { type Description, describedState } from '../../../_shared/states/describe.ts';
import type { CronJob } from '../../crontab.ts';
import { tabOf } from '../../user-crontab.ts';

/**
 * Describes the jobs and variables that states manage in the crontabs of this host: those of all
 * users for root, else those of the current user. Lines above Salt's mark are not managed and are
 * left out.
 */
export const describe = async (): Promise<Description> => {
  const described: Description = {};
  for (const user of usersWithTab()) {
    const { crons, special, env } = await tabOf(user);
    const own = user === 'root' ? '' : ` of ${user}`;
    for (const { name, value } of env)
      described[`${name}${own}`] = describedState('cron.env_present', {
        name: own === '' ? undefined : name,
        value,
        user,
      });
    for (const job of [...crons, ...special]) {
      const id = `${job.identifier ?? job.cmd}${own}`;
      // No state can distinguish a second line with the same command from the first.
      if (Object.hasOwn(described, id)) continue;
      described[id] = describedState('cron.present', {
        name: id === job.cmd ? undefined : job.cmd,
        user,
        ...(job.spec === undefined ? timesOf(job) : { special: job.spec }),
        comment: job.comment ?? undefined,
        commented: job.commented || undefined,
        identifier: job.identifier === job.cmd ? undefined : job.identifier,
      });
    }
  }
  return described;
};

const timesOf = ({
  minute = '*',
  hour = '*',
  daymonth = '*',
  month = '*',
  dayweek = '*',
}: CronJob): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries({ minute, hour, daymonth, month, dayweek })
      .filter(([, time]) => time !== '*')
      .map(([key, time]) => [key, /^(0|[1-9]\d*)$/.test(time) ? Number(time) : time]),
  );

const spools = ['/var/spool/cron/crontabs', '/var/spool/cron/tabs', '/var/spool/cron'];

const usersWithTab = (): string[] => {
  if (process.geteuid?.() !== 0) return [userInfo().username];
  const spool = spools.find(folder => existsSync(folder));
  if (spool === undefined) return [];
  return readdirSync(spool, { withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
};
