/**
 * Manages jobs that run once, at a given time.
 *
 * @platform unix
 * @depends at
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('at') ? true : [false, 'at is not installed'];

type Job = { date: string; time: string; queue: string; user: string; job: string; tag: string };

/**
 * Lists the pending jobs.
 *
 * @param tag only those with this tag or number
 *
 * @example tsalt-ssh '*' at.atq
 */
export const atq = async (tag: string | number | null = null): Promise<{ jobs: Job[] }> => {
  const { stdout } = await runCommand(['atq'], { plainLocale: true });
  const jobs: Job[] = [];
  for (const line of stdout.split('\n')) {
    const [, job = '', when = '', queue = '', user = ''] =
      line.match(/^(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(\S)\s+(\S+)/) ?? [];
    if (job === '') continue;
    const script = (await runCommand(['at', '-c', job], { plainLocale: true })).stdout;
    const time = new Date(when);
    const two = (value: number): string => String(value).padStart(2, '0');
    jobs.push({
      date: `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`,
      time: `${two(time.getHours())}:${two(time.getMinutes())}`,
      queue,
      user,
      job,
      tag: script.match(/^### SALT: (.+)$/m)?.[1] ?? '',
    });
  }
  return {
    jobs:
      tag === null ? jobs : jobs.filter(job => job.tag === String(tag) || job.job === String(tag)),
  };
};

/**
 * Adds a job. Returns the job, or an error.
 *
 * @param timespec when, as `at` reads it
 * @param job the command
 * @param tag finds the job again
 * @param runas the user to run it as
 *
 * @example tsalt-ssh '*' at.at 'now +1 hour' 'shutdown -r now' tag=reboot
 */
export const at = async (
  timespec: string,
  job: string,
  { tag = null, runas = null }: { tag?: string | null; runas?: string | null } = {},
): Promise<{ jobs: Job[]; error?: string }> => {
  if (timespec.startsWith('-')) throw new CommandExecutionError(`invalid timespec: ${timespec}`);
  const label = tag === null ? '' : `### SALT: ${tag.replace(/\s+/g, ' ')}\n`;
  const { code, stdout, stderr } = await runCommand(['at', ...timespec.split(/\s+/)], {
    stdin: `${label}${job}\n`,
    runas: runas ?? undefined,
    plainLocale: true,
  });
  const number = `${stdout}\n${stderr}`.match(/^job (\S+) at/m)?.[1];
  if (code !== 0 || number === undefined) return { jobs: [], error: stderr.trim() };
  return atq(number);
};

/**
 * Removes jobs by number or tag; `all` removes every one, or with a tag behind it those that have it.
 *
 * @param args the numbers or tags
 *
 * @example tsalt-ssh '*' at.atrm reboot
 */
export const atrm = async (
  ...args: string[]
): Promise<{ jobs: { removed: string[]; tag: string | null } }> => {
  const { jobs } = await atq();
  const [first, wanted = null, ...others] = args.map(String);
  if (first === 'all' && others.length > 0)
    throw new SaltInvocationError('at.atrm takes one tag after all');
  const names = first === 'all' ? [] : args.map(String);
  const chosen = jobs.filter(({ job, tag }) =>
    first === 'all'
      ? wanted === null || tag === wanted
      : names.some(name => name === (/^\d+$/.test(name) ? job : tag)),
  );
  for (const { job } of chosen) await runCommand(['atrm', job], { plainLocale: true });
  return { jobs: { removed: chosen.map(({ job }) => job), tag: first === 'all' ? wanted : null } };
};

/**
 * Returns the script of a job, as `at -c` prints it.
 *
 * @param jobid its number
 *
 * @example tsalt-ssh '*' at.atc 7
 */
export const atc = async (jobid: number | string): Promise<string | { error: string }> => {
  if (!/^\d+$/.test(String(jobid))) return { error: `invalid job id '${jobid}'` };
  const { code, stdout } = await runCommand(['at', '-c', String(jobid)], { plainLocale: true });
  return code === 0 && stdout !== '' ? stdout.trimEnd() : { error: `invalid job id '${jobid}'` };
};

type Condition = string | number | null;

/**
 * Returns the pending jobs that match.
 *
 * @param runas of this user
 * @param tag with this tag
 * @param hour at this hour
 * @param minute at this minute
 * @param day on this day of the month
 * @param month in this month
 * @param year in this year
 *
 * @example tsalt-ssh '*' at.jobcheck runas=jam day=13 month=3
 */
export const jobcheck = async ({
  runas = null,
  tag = null,
  hour = null,
  minute = null,
  day = null,
  month = null,
  year = null,
}: {
  runas?: string | null;
  tag?: string | null;
  hour?: Condition;
  minute?: Condition;
  day?: Condition;
  month?: Condition;
  year?: Condition;
} = {}): Promise<{ jobs: Job[]; note?: string } | { error: string }> => {
  const conditions = [runas, tag, hour, minute, day, month, year];
  if (conditions.every(condition => condition === null))
    return { error: 'You have given a condition' };
  const fits = (wanted: Condition, found: string | undefined): boolean =>
    wanted === null || String(wanted).padStart(2, '0') === found;
  const full = year !== null && String(year).length === 2 ? `20${year}` : year;
  const jobs = (await atq()).jobs.filter(job => {
    const [jobYear, jobMonth, jobDay] = job.date.split('-');
    const [jobHour, jobMinute] = job.time.split(':');
    return (
      (runas === null || runas === job.user) &&
      (tag === null || tag === job.tag) &&
      fits(hour, jobHour) &&
      fits(minute, jobMinute) &&
      fits(day, jobDay) &&
      fits(month, jobMonth) &&
      fits(full, jobYear)
    );
  });
  return jobs.length > 0 ? { jobs } : { jobs, note: 'No match jobs or time format error' };
};
