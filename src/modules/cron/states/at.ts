/** Manages jobs that run once, at a given time. */

import { nameExists } from '../../_shared/files/owner-names.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../api.ts';

type Job = { job: string; tag: string; user: string; date: string; time: string };
type Jobs = { jobs: Job[]; error?: string };
type JobOptions = {
  /** finds the job again */
  tag?: string | null;
  /** the user to run it as */
  user?: string | null;
  /** the command, when `name` is only a name */
  job?: string | null;
  /** do nothing when a job with this tag waits */
  unique_tag?: boolean;
};

/**
 * Adds a job that runs once.
 *
 * @param name the command
 * @param timespec when, as `at` reads it
 * @example
 * rebuild:
 *   at.present:
 *     - job: /usr/local/bin/rebuild
 *     - timespec: 9:09 tomorrow
 *     - tag: rebuild
 *     - unique_tag: True
 */
export const present = async (
  name: string,
  timespec: string,
  { tag = null, user = null, job = null, unique_tag = false }: JobOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const command = job ?? name;
  const who = user === null ? '' : ` as ${user}`;
  const refused = withoutTag(name, { tag, unique_tag });
  if (refused) return refused;
  const same: Jobs = unique_tag ? await __salt__['at.atq']?.(tag) : { jobs: [] };
  if (same.jobs.length > 0) return { ...ret, comment: `atleast one job with tag ${tag} exists.` };
  if (user !== null && !nameExists('passwd', user))
    return failed(ret, `user ${user} does not exists`);
  const comment = `job ${command} added and will run${who} on ${timespec}`;
  if (__opts__.test) return { ...ret, result: null, comment };
  const added: Jobs = await __salt__['at.at']?.(timespec, command, { tag, runas: user });
  const [first] = added.jobs;
  return first
    ? { ...ret, changes: { ...first }, comment }
    : failed(ret, added.error ?? 'no job was added');
};

/**
 * Adds a job when a watched state changed; does nothing otherwise.
 *
 * @param name the command
 * @param timespec when, as `at` reads it
 * @example
 * restart later:
 *   at.watch:
 *     - job: systemctl restart app
 *     - timespec: 02:00
 *     - watch:
 *       - file: /etc/app.conf
 */
export const watch = async (
  name: string,
  { timespec: _timespec, ...options }: JobOptions & { timespec: string },
): Promise<StateReturn> => withoutTag(name, options) ?? newReturn(name);

const withoutTag = (name: string, { tag, unique_tag }: JobOptions): StateReturn | undefined =>
  unique_tag && !tag ? failed(name, 'no tag provided and unique_tag is set to True') : undefined;

/** Adds the job: called by the engine with the arguments of the state that watches. */
export const mod_watch = async (
  name: string,
  { sfun, timespec, ...options }: JobOptions & { sfun: string; timespec: string },
): Promise<StateReturn> =>
  sfun === 'watch'
    ? present(name, timespec, options)
    : failed(name, `at.${sfun} does not work with the watch requisite, use at.watch`);

type Filter = {
  jobid?: string | number | null;
  tag?: string | null;
  runas?: string | null;
  year?: number | string | null;
  month?: number | string | null;
  day?: number | string | null;
  hour?: number | string | null;
  minute?: number | string | null;
};

/**
 * Removes jobs: those that all the arguments fit. Without any argument these are all jobs.
 *
 * @param name a name for the state
 * @param jobid number of the job; the other arguments do not count then
 * @param tag tag of the jobs
 * @param runas the user that they run as
 * @param year year, of four digits or two
 * @param month month, 1 to 12
 * @param day day of the month
 * @param hour hour
 * @param minute minute
 *
 * @example
 * rebuild:
 *   at.absent:
 *     - tag: rebuild
 */
export const absent = async (
  name: string,
  { jobid = null, ...filter }: Filter = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { jobs }: Jobs = await __salt__['at.atq'](jobid);
  const removed = jobs
    .filter(job => (jobid === null ? fits(job, filter) : job.job === String(jobid)))
    .map(({ job }) => job);
  if (removed.length === 0)
    return {
      ...ret,
      comment: jobid === null ? 'removed 0 job(s)' : `job with id ${jobid} not present`,
    };
  const changes = { removed };
  const comment =
    jobid === null ? `removed ${removed.length} job(s)` : `job with id ${jobid} was removed`;
  if (__opts__.test) return { ...ret, result: null, changes, comment };
  await __salt__['at.atrm'](...removed);
  return { ...ret, changes, comment };
};

const fits = ({ tag, user, date, time }: Job, filter: Omit<Filter, 'jobid'>): boolean => {
  const [year, month, day] = date.split('-').map(Number);
  const [hour, minute] = time.split(':').map(Number);
  const isSame = (wanted: unknown, is: unknown): boolean =>
    wanted === null || wanted === undefined || String(wanted) === String(is);
  return (
    isSame(filter.tag, tag) &&
    isSame(filter.runas, user) &&
    (isSame(filter.year, year) || isSame(filter.year, Number(year) % 100)) &&
    [
      [filter.month, month],
      [filter.day, day],
      [filter.hour, hour],
      [filter.minute, minute],
    ].every(([wanted, is]) =>
      isSame(wanted === null || wanted === undefined ? wanted : Number(wanted), is),
    )
  );
};
