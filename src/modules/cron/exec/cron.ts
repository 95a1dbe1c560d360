/**
 * Reads and changes the crontabs of users.
 *
 * @platform unix
 * @depends crontab
 */

import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { uidOf } from '../../_shared/files/owner-names.ts';
import { CommandExecutionError } from '../../api.ts';
import {
  type CronJobOptions,
  type CronTime,
  type CronTimeKey,
  changedJob,
  type DesiredJob,
  isSameJob,
} from '../cron-job.ts';
import { type CronJob, type Crontab, parseCrontab, renderCrontab } from '../crontab.ts';

type RemoveTimes = { [key in CronTimeKey]?: CronTime | null };
type RemoveOptions = RemoveTimes & Pick<CronJobOptions, 'identifier'>;

export const __virtual__ = (): true | [false, string] =>
  which('crontab') ? true : [false, 'crontab is not installed'];

/**
 * Returns the text of a user's crontab; empty for a user that does not exist.
 *
 * @param user the user
 *
 * @example tsalt-ssh '*' cron.raw_cron root
 */
export const raw_cron = async (user: string): Promise<string> => {
  const { code, stdout, stderr } = await crontab(user, '-l');
  if (code !== 0 && !/no crontab/i.test(stderr) && uidOf(user) !== undefined)
    throw new CommandExecutionError(`Cannot read the crontab of ${user}: ${stderr.trim()}`);
  return stdout
    .split('\n')
    .filter(
      (line, index) => index > 2 || !/^# (DO NOT EDIT|\(.* installed on|\(Cron version)/.test(line),
    )
    .join('\n');
};

/**
 * Returns a user's crontab as data: jobs, special jobs, variables, and the lines before them.
 *
 * @param user the user
 *
 * @example tsalt-ssh '*' cron.list_tab root
 */
export const list_tab = async (user: string): Promise<Crontab> =>
  parseCrontab(await raw_cron(user));

/** Alias of `cron.list_tab`. */
export const ls = list_tab;

/**
 * Returns a job of a crontab by its identifier or command; false if there is none.
 *
 * @param user the user
 * @param identifier its identifier
 * @param cmd its command, if it has no identifier
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
 * Adds or changes a job. Returns `new`, `updated`, `present`, or an error message.
 *
 * @param user the user
 * @param minute when; `random` picks once
 * @param hour when
 * @param daymonth when
 * @param month when
 * @param dayweek when
 * @param cmd the command
 * @example tsalt-ssh '*' cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly
 */
export const set_job = async (
  user: string,
  minute: CronTime,
  hour: CronTime,
  daymonth: CronTime,
  month: CronTime,
  dayweek: CronTime,
  cmd: string,
  { commented = false, comment = null, identifier = null }: CronJobOptions = {},
): Promise<string> => {
  const when = { minute, hour, daymonth, month, dayweek };
  return setEntry(user, 'crons', cmd, when, { comment, commented, identifier });
};

/**
 * Adds or changes a job with a special time. Returns `new`, `updated`, `present`, or an error
 * message.
 *
 * @param user the user
 * @param special `@reboot`, `@daily` …
 * @param cmd the command
 * @example tsalt-ssh '*' cron.set_special root @hourly 'echo foobar'
 */
export const set_special = async (
  user: string,
  special: string,
  cmd: string,
  { commented = false, comment = null, identifier = null }: CronJobOptions = {},
): Promise<string> =>
  setEntry(user, 'special', cmd, { spec: special }, { comment, commented, identifier });

/**
 * Removes a job. Returns `removed`, `absent`, or an error message.
 *
 * @param user the user
 * @param cmd the command
 * @param minute only a job with this minute
 * @param hour only a job with this hour
 * @param daymonth only a job with this day of the month
 * @param month only a job with this month
 * @param dayweek only a job with this day of the week
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

/** Alias of `cron.rm_job`. */
export const rm = rm_job;

/**
 * Removes a job with a special time. Returns `removed`, `absent`, or an error message.
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
 * Sets a variable in a crontab. Returns `new`, `updated`, `present`, or an error message.
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
 * Removes a variable from a crontab. Returns `removed`, `absent`, or an error message.
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
 * Replaces a user's crontab with the contents of a file. Returns true if it was accepted.
 *
 * @param user the user
 * @param path the file
 *
 * @example tsalt-ssh '*' cron.write_cron_file root /tmp/new_cron
 */
export const write_cron_file = async (user: string, path: string): Promise<boolean> =>
  (await crontab(user, path)).code === 0;

/**
 * Replaces a user's crontab with the contents of a file. Returns pid, retcode, stdout and stderr.
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

/** Runs `crontab` on a user's table; without root there is only one's own. */
const crontab = (user: string, what: string, stdin?: string): Promise<CommandResult> =>
  runCommand(process.geteuid?.() === 0 ? ['crontab', '-u', user, what] : ['crontab', what], {
    plainLocale: true,
    ...(stdin === undefined ? {} : { stdin }),
  });

/** Writes a crontab; returns `done`, or the error message. */
const commit = async (user: string, tab: Crontab, done: string): Promise<string> => {
  const { code, stderr } = await crontab(user, '-', renderCrontab(tab));
  return code === 0 ? done : stderr.trim();
};

type Kind = 'crons' | 'special';

const setEntry = async (
  user: string,
  kind: Kind,
  cmd: string,
  when: DesiredJob['when'],
  options: CronJobOptions,
): Promise<string> => {
  const tab = await list_tab(user);
  const known = [...tab.crons, ...tab.special].find(job => isSameJob(job, cmd, options.identifier));
  const made = changedJob(known, { cmd, when, ...options });
  if (!made) return 'present';
  if (known && tab[kind].includes(known)) tab[kind][tab[kind].indexOf(known)] = made;
  else tab[kind].push(made);
  // A job may change between times and a special time.
  const left = { ...tab, [others[kind]]: tab[others[kind]].filter(job => job !== known) };
  return commit(user, left, known ? 'updated' : 'new');
};

const others = { crons: 'special', special: 'crons' } as const;

const removeEntry = async (
  user: string,
  kind: Kind,
  cmd: string,
  identifier: CronJobOptions['identifier'],
  times: RemoveTimes = {},
): Promise<string> => {
  const wanted = Object.entries(times).filter(([, time]) => time !== null);
  const isThen = (job: CronJob): boolean =>
    wanted.every(([key, time]) => job[key as CronTimeKey] === String(time).toLowerCase());
  const tab = await list_tab(user);
  const left = tab[kind].filter(job => !(isSameJob(job, cmd, identifier) && isThen(job)));
  return left.length === tab[kind].length
    ? 'absent'
    : commit(user, { ...tab, [kind]: left }, 'removed');
};
