/** Jobs that run once, at a given time. */
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { nameExists } from '../lib/owner-names.ts';
import { failed, newReturn } from '../lib/returns.ts';

type Jobs = { jobs: { job: string; tag: string }[]; error?: string };

/**
 * Adds a job that runs once.
 *
 * @param name the command
 * @param timespec when, as `at` reads it
 * @param tag finds the job again
 * @param user the user to run it as
 * @param job the command, when `name` is only a name
 * @param unique_tag do nothing when a job with this tag waits
 *
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
  {
    tag = null,
    user = null,
    job = null,
    unique_tag = false,
  }: { tag?: string | null; user?: string | null; job?: string | null; unique_tag?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const command = job ?? name;
  const who = user === null ? '' : ` as ${user}`;
  if (unique_tag && tag === null)
    return failed(ret, 'no tag provided and unique_tag is set to True');
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
 * Removes jobs.
 *
 * @param name a name for the state; the tag when `jobid` and `tag` are left out
 * @param jobid number of the job
 * @param tag tag of the jobs
 *
 * @example
 * rebuild:
 *   at.absent: []
 */
export const absent = async (
  name: string,
  { jobid = null, tag = null }: { jobid?: string | number | null; tag?: string | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const wanted = String(jobid ?? tag ?? name);
  const waiting: Jobs = await __salt__['at.atq']?.(wanted);
  const removed = waiting.jobs.map(({ job }) => job);
  if (removed.length === 0)
    return {
      ...ret,
      comment: jobid === null ? 'removed 0 job(s)' : `job with id ${jobid} not present`,
    };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: { removed },
      comment: `removed ${removed.length} job(s)`,
    };
  await __salt__['at.atrm']?.(wanted);
  return { ...ret, changes: { removed }, comment: `removed ${removed.length} job(s)` };
};
