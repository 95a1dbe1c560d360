/**
 * Reads and changes the crontabs of users.
 *
 * @platform unix
 * @depends crontab
 */
import { randomInt } from 'node:crypto';
import { CommandExecutionError } from '../api.ts';
import { type CronJob, type Crontab, parseCrontab, renderCrontab } from '../lib/crontab.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

type Time = string | number;
type JobOptions = {
  minute?: Time;
  hour?: Time;
  daymonth?: Time;
  month?: Time;
  dayweek?: Time;
  comment?: string | null;
  commented?: boolean;
  identifier?: string | boolean | null;
};

type TimeKey = 'minute' | 'hour' | 'daymonth' | 'month' | 'dayweek';
type RemoveTimes = { [key in TimeKey]?: Time | null };
type RemoveOptions = RemoveTimes & { identifier?: string | boolean | null };

export const __virtual__ = (): true | [false, string] =>
  which('crontab') ? true : [false, 'crontab is not installed'];

/**
 * A user's crontab as it is.
 *
 * @param user the user
 *
 * @example tsalt-ssh '*' cron.raw_cron root
 */
export const raw_cron = async (user: string): Promise<string> => {
  const { code, stdout, stderr } = await crontab(user, '-l');
  if (code !== 0 && !/no crontab/i.test(stderr))
    throw new CommandExecutionError(`Cannot read the crontab of ${user}: ${stderr.trim()}`);
  return stdout
    .split('\n')
    .filter(
      (line, index) => index > 2 || !/^# (DO NOT EDIT|\(.* installed on|\(Cron version)/.test(line),
    )
    .join('\n');
};

/**
 * A user's crontab as data: jobs, special jobs, variables, and the lines before them.
 *
 * @param user the user
 *
 * @example tsalt-ssh '*' cron.list_tab root
 */
export const list_tab = async (user: string): Promise<Crontab> =>
  parseCrontab(await raw_cron(user));

/** Salt's other name of `cron.list_tab`. */
export const ls = list_tab;

/**
 * A job of a crontab by its identifier or command; false when there is none.
 *
 * @param user the user
 * @param identifier its identifier
 * @param cmd its command, where there is no identifier
 *
 * @example tsalt-ssh '*' cron.get_entry root identifier=backup
 */
export const get_entry = async (
  user: string,
  identifier: string | null = null,
  cmd: string | null = null,
): Promise<CronJob | false> => {
  const { crons, special } = await list_tab(user);
  const found = [...crons, ...special].find(job =>
    identifier ? job.identifier === identifier : cmd !== null && job.cmd === cmd,
  );
  return found ?? false;
};

/**
 * Adds or changes a job. Gives `new`, `updated`, `present`, or what went wrong.
 *
 * @param user the user
 * @param minute when; `random` picks once
 * @param hour when
 * @param daymonth when
 * @param month when
 * @param dayweek when
 * @param cmd the command
 * @param comment a comment above it
 * @param commented write it commented out
 * @param identifier finds the job again when its command changes
 *
 * @example tsalt-ssh '*' cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly
 */
export const set_job = async (
  user: string,
  minute: Time,
  hour: Time,
  daymonth: Time,
  month: Time,
  dayweek: Time,
  cmd: string,
  { comment = null, commented = false, identifier = null }: JobOptions = {},
): Promise<string> => {
  const times = { minute, hour, daymonth, month, dayweek };
  return setEntry(user, 'crons', cmd, times, { comment, commented, identifier });
};

/**
 * Adds or changes a job with a special time. Gives `new`, `updated`, `present`, or what went wrong.
 *
 * @param user the user
 * @param special `@reboot`, `@daily` …
 * @param cmd the command
 * @param comment a comment above it
 * @param commented write it commented out
 * @param identifier finds the job again when its command changes
 *
 * @example tsalt-ssh '*' cron.set_special root @hourly 'echo foobar'
 */
export const set_special = async (
  user: string,
  special: string,
  cmd: string,
  { comment = null, commented = false, identifier = null }: JobOptions = {},
): Promise<string> =>
  setEntry(user, 'special', cmd, { spec: special }, { comment, commented, identifier });

/**
 * Removes a job. Gives `removed`, `absent`, or what went wrong.
 *
 * @param user the user
 * @param cmd the command
 * @param minute only one at this time
 * @param hour likewise
 * @param daymonth likewise
 * @param month likewise
 * @param dayweek likewise
 * @param identifier its identifier
 *
 * @example tsalt-ssh '*' cron.rm_job root /usr/local/weekly
 */
export const rm_job = async (
  user: string,
  cmd: string,
  {
    minute = null,
    hour = null,
    daymonth = null,
    month = null,
    dayweek = null,
    identifier = null,
  }: RemoveOptions = {},
): Promise<string> =>
  removeEntry(user, 'crons', cmd, identifier, { minute, hour, daymonth, month, dayweek });

/** Salt's other name of `cron.rm_job`. */
export const rm = rm_job;

/**
 * Removes a job with a special time. Gives `removed`, `absent`, or what went wrong.
 *
 * @param user the user
 * @param cmd the command
 * @param special accepted for compatibility
 * @param identifier its identifier
 *
 * @example tsalt-ssh '*' cron.rm_special root 'echo foobar' special=@hourly
 */
export const rm_special = async (
  user: string,
  cmd: string,
  {
    special: _special = null,
    identifier = null,
  }: { special?: string | null; identifier?: string | boolean | null } = {},
): Promise<string> => removeEntry(user, 'special', cmd, identifier);

/**
 * Sets a variable in a crontab. Gives `new`, `updated`, `present`, or what went wrong.
 *
 * @param user the user
 * @param name the variable
 * @param value its value
 *
 * @example tsalt-ssh '*' cron.set_env root MAILTO user@example.com
 */
export const set_env = async (
  user: string,
  name: string,
  value: string | number | null = null,
): Promise<string> => {
  const tab = await list_tab(user);
  const text = String(value ?? '');
  const known = tab.env.find(variable => variable.name === name);
  if (known?.value === text) return 'present';
  if (known) known.value = text;
  else tab.env.push({ name, value: text });
  return commit(user, tab, known ? 'updated' : 'new');
};

/**
 * Removes a variable from a crontab. Gives `removed`, `absent`, or what went wrong.
 *
 * @param user the user
 * @param name the variable
 *
 * @example tsalt-ssh '*' cron.rm_env root MAILTO
 */
export const rm_env = async (user: string, name: string): Promise<string> => {
  const tab = await list_tab(user);
  const env = tab.env.filter(variable => variable.name !== name);
  return env.length === tab.env.length ? 'absent' : commit(user, { ...tab, env }, 'removed');
};

/**
 * Puts a file in place of a user's crontab. True when it was taken.
 *
 * @param user the user
 * @param path the file
 *
 * @example tsalt-ssh '*' cron.write_cron_file root /tmp/new_cron
 */
export const write_cron_file = async (user: string, path: string): Promise<boolean> =>
  (await crontab(user, path)).code === 0;

/**
 * Puts a file in place of a user's crontab. Gives pid, retcode, stdout and stderr.
 *
 * @param user the user
 * @param path the file
 *
 * @example tsalt-ssh '*' cron.write_cron_file_verbose root /tmp/new_cron
 */
export const write_cron_file_verbose = async (
  user: string,
  path: string,
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const { pid, code, stdout, stderr } = await crontab(user, path);
  return { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
};

const crontab = (user: string, ...args: [string]): ReturnType<typeof runCommand> => {
  const own = process.geteuid?.() !== 0;
  return runCommand(own ? ['crontab', ...args] : ['crontab', '-u', user, ...args], {
    plainLocale: true,
  });
};

const commit = async (user: string, tab: Crontab, done: string): Promise<string> => {
  const own = process.geteuid?.() !== 0;
  const { code, stderr } = await runCommand(own ? ['crontab', '-'] : ['crontab', '-u', user, '-'], {
    stdin: renderCrontab(tab),
    plainLocale: true,
  });
  return code === 0 ? done : stderr.trim();
};

type Kind = 'crons' | 'special';

const isSame = (job: CronJob, cmd: string, identifier: JobOptions['identifier']): boolean => {
  if (job.identifier && typeof identifier === 'string' && identifier !== '') {
    if (job.identifier === identifier) return true;
    return job.identifier === job.cmd && job.cmd === cmd && identifier === cmd;
  }
  return job.cmd === cmd;
};

const setEntry = async (
  user: string,
  kind: Kind,
  cmd: string,
  when: Record<string, Time>,
  { comment = null, commented = false, identifier = null }: JobOptions,
): Promise<string> => {
  const tab = await list_tab(user);
  const known = tab[kind].find(job => isSame(job, cmd, identifier));
  const wanted: Partial<CronJob> = {
    cmd,
    comment: comment === null ? null : comment.trimEnd(),
    commented,
    identifier: typeof identifier === 'string' ? identifier : null,
  };
  for (const [key, value] of Object.entries(when))
    if (!(known && value === 'random'))
      Object.assign(wanted, {
        [key]: value === 'random' ? pick(key) : String(value).toLowerCase(),
      });
  if (!known) {
    const blank = { minute: '*', hour: '*', daymonth: '*', month: '*', dayweek: '*' };
    tab[kind].push({ ...blank, ...(wanted as CronJob) });
    return commit(user, tab, 'new');
  }
  const keys = Object.keys(wanted) as (keyof CronJob)[];
  if (keys.every(key => (known[key] ?? null) === (wanted[key] ?? null))) return 'present';
  Object.assign(known, wanted);
  return commit(user, tab, 'updated');
};

const ranges: Readonly<Record<string, [number, number]>> = {
  minute: [0, 60],
  hour: [0, 24],
  daymonth: [1, 29],
  month: [1, 13],
  dayweek: [0, 7],
};

const pick = (key: string): string => String(randomInt(...(ranges[key] ?? [0, 1])));

const removeEntry = async (
  user: string,
  kind: Kind,
  cmd: string,
  identifier: JobOptions['identifier'],
  times: RemoveTimes = {},
): Promise<string> => {
  const wanted = Object.entries(times).filter(([, time]) => time !== null);
  const isThen = (job: CronJob): boolean =>
    wanted.every(([key, time]) => job[key as TimeKey] === String(time).toLowerCase());
  const tab = await list_tab(user);
  const left = tab[kind].filter(job => !(isSame(job, cmd, identifier) && isThen(job)));
  return left.length === tab[kind].length
    ? 'absent'
    : commit(user, { ...tab, [kind]: left }, 'removed');
};
