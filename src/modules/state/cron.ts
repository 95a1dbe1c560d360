/** Jobs and variables in the crontabs of users. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { __env__, __opts__, __salt__, type PlainDict, type StateReturn } from '../api.ts';
import { messageOf, salt } from '../lib/call.ts';
import { type CronJob, type Crontab, parseCrontab } from '../lib/crontab.ts';
import { type Description, describedState } from '../lib/describe.ts';
import { findSource } from '../lib/file-source.ts';
import { failed, newReturn } from '../lib/returns.ts';
import { contentDiff } from '../lib/text-diff.ts';
import { isUserToCome } from '../lib/to-come.ts';

type Time = string | number;
type CronOptions = {
  user?: string;
  minute?: Time;
  hour?: Time;
  daymonth?: Time;
  month?: Time;
  dayweek?: Time;
  comment?: string | null;
  commented?: boolean;
  identifier?: string | boolean | null;
  special?: string | null;
};

const tabOf = async (user: string): Promise<Crontab> =>
  isUserToCome(user) ? parseCrontab('') : await salt('cron.list_tab')(user);

/**
 * Manages a job in a user's crontab.
 *
 * @param name the command
 * @param user the user
 * @param minute when; `random` picks once
 * @param hour when
 * @param daymonth when
 * @param month when
 * @param dayweek when
 * @param comment a comment above the job
 * @param commented write it commented out
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
    const jobs = (await tabOf(user))[special === null ? 'crons' : 'special'];
    const known = jobs.find(job => isSame(job, cmd, id));
    if (!known) return { ...ret, result: null, comment: `Cron ${cmd} is set to be added` };
    const wanted: Record<string, unknown> =
      special === null ? { ...times, ...options, cmd } : { spec: special, ...options, cmd };
    const differs = Object.entries(wanted).some(
      ([key, value]) =>
        value !== 'random' && String(known[key as keyof CronJob] ?? '') !== String(value ?? ''),
    );
    return differs
      ? { ...ret, result: null, comment: `Cron ${cmd} is set to be updated` }
      : { ...ret, comment: `Cron ${cmd} already present` };
  }
  const status: string =
    special === null
      ? await __salt__['cron.set_job']?.(user, minute, hour, daymonth, month, dayweek, cmd, options)
      : await __salt__['cron.set_special']?.(user, special, cmd, options);
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
 * @param user the user
 * @param identifier its identifier; the command when left out
 * @param special `@reboot`, `@daily` … when the job has such a time
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
    return jobs.some(job => isSame(job, cmd, id))
      ? { ...ret, result: null, comment: `Cron ${cmd} is set to be removed` }
      : { ...ret, comment: `Cron ${cmd} is absent` };
  }
  const fun = special === null ? 'cron.rm_job' : 'cron.rm_special';
  const status: string = await __salt__[fun]?.(user, cmd, { identifier: id });
  if (status === 'absent') return { ...ret, comment: `Cron ${cmd} already absent` };
  if (status === 'removed')
    return {
      ...ret,
      changes: { [user]: cmd },
      comment: `Cron ${cmd} removed from ${user}'s crontab`,
    };
  return failed(ret, `Cron ${cmd} for user ${user} failed to commit with error ${status}`);
};

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
    if (!known) return { ...ret, result: null, comment: `Cron env ${name} is set to be added` };
    return known.value === String(value ?? '')
      ? { ...ret, comment: `Cron env ${name} already present` }
      : { ...ret, result: null, comment: `Cron env ${name} is set to be updated` };
  }
  const status: string = await __salt__['cron.set_env']?.(user, name, value);
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
      ? { ...ret, result: null, comment: `Cron env ${variable} is set to be removed` }
      : { ...ret, comment: `Cron env ${variable} is absent` };
  const status: string = await __salt__['cron.rm_env']?.(user, variable);
  if (status === 'absent') return { ...ret, comment: `Cron env ${variable} already absent` };
  if (status === 'removed')
    return {
      ...ret,
      changes: { [user]: variable },
      comment: `Cron env ${variable} removed from ${user}'s crontab`,
    };
  return failed(ret, `Cron env ${variable} for user ${user} failed to commit with error ${status}`);
};

type CronFileOptions = {
  source_hash?: string;
  source_hash_name?: string | null;
  user?: string;
  template?: string | null;
  context?: PlainDict | null;
  replace?: boolean;
  defaults?: PlainDict | null;
  backup?: string | null;
};

/**
 * Manages a user's whole crontab after a file.
 *
 * @param name the file: `salt://…`, a URL or a path
 * @param source_hash hash of a source from the web
 * @param source_hash_name name to look up in a file of hashes
 * @param user the user
 * @param template renderer for the file
 * @param context variables for the template
 * @param replace false: leave a crontab that is there as it is
 * @param defaults variables for the template that `context` overrides
 * @param backup has no effect: `crontab` writes the file, no copy of it is kept
 *
 * @example
 * salt://cron/backup.tab:
 *   cron.file:
 *     - user: backup
 */
export const file = async (
  name: string,
  {
    source_hash = '',
    source_hash_name = null,
    user = 'root',
    template = null,
    context = null,
    replace = true,
    defaults = null,
    backup: _backup = '',
  }: CronFileOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const current: string = isUserToCome(user) ? '' : await salt('cron.raw_cron')(user);
  if (!replace && current !== '')
    return { ...ret, comment: `User ${user} already has a crontab. No changes made` };
  let wanted: Buffer;
  try {
    const options = { source_hash, source_hash_name, template, context, defaults, user };
    const found = await findSource(name, { ...options, name: 'crontab', saltenv: __env__.name });
    wanted = (await found.content()).bytes();
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const diff = contentDiff(Buffer.from(current), wanted);
  if (diff === '') return { ...ret, comment: `Crontab for user ${user} is in the correct state` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { diff },
      comment: `Crontab for user ${user} is set to be changed`,
    };
  const dir = mkdtempSync(join(tmpdir(), 'crontab-'));
  try {
    writeFileSync(join(dir, 'tab'), wanted, { mode: 0o600 });
    const taken = await __salt__['cron.write_cron_file']?.(user, join(dir, 'tab'));
    return taken
      ? { ...ret, changes: { diff }, comment: `Crontab for user ${user} was updated` }
      : failed(ret, `Unable to update user ${user} crontab ${name}`);
  } finally {
    rmSync(dir, { recursive: true });
  }
};

/**
 * The jobs and variables that states manage in the crontabs of this host: of all users for root,
 * else of the own one. Lines above Salt's mark belong to somebody else and are left alone.
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
      // A second line with the same command cannot be told from the first by any state.
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

const timesOf = ({ minute, hour, daymonth, month, dayweek }: CronJob): Record<string, Time> =>
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

const isSame = (job: CronJob, cmd: string, identifier: string | boolean | null): boolean =>
  job.identifier && typeof identifier === 'string'
    ? job.identifier === identifier
    : job.cmd === cmd;
