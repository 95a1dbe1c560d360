import { randomInt } from 'node:crypto';
import type { CronJob } from './crontab.ts';

/** A field of a crontab as arguments give it; `random` picks one, once. */
export type CronTime = string | number;

/** When a job runs. */
export type CronTimes = {
  minute?: CronTime;
  hour?: CronTime;
  daymonth?: CronTime;
  month?: CronTime;
  dayweek?: CronTime;
};
export type CronTimeKey = keyof CronTimes;

/** What is said of a job besides its command and its time. */
export type CronJobOptions = {
  comment?: string | null;
  commented?: boolean;
  identifier?: string | boolean | null;
};

/** Whether a job of a crontab is the one that is meant: by identifier where both have one. */
export const isSameJob = (
  job: CronJob,
  cmd: string,
  identifier: CronJobOptions['identifier'],
): boolean =>
  job.identifier && typeof identifier === 'string' && identifier !== ''
    ? job.identifier === identifier
    : job.cmd === cmd;

/** A job as it shall stand in a crontab; times may still be `random`. */
export const wantedJob = (
  cmd: string,
  when: Readonly<CronTimes> | { readonly spec: string },
  { comment = null, commented = false, identifier = null }: CronJobOptions,
): Partial<CronJob> => ({
  cmd,
  comment: comment === null ? null : comment.trimEnd(),
  commented,
  identifier: typeof identifier === 'string' && identifier !== '' ? identifier : null,
  ...Object.fromEntries(
    Object.entries(when).map(([key, value]) => [key, String(value).toLowerCase()]),
  ),
});

/** Whether a job stands as it shall; any time does for `random`. */
export const standsAs = (known: CronJob, wanted: Partial<CronJob>): boolean =>
  keysOf(wanted).every(
    key => isRandom(key, wanted[key]) || (known[key] ?? null) === (wanted[key] ?? null),
  );

/** The job `known`, or a new one, made as wanted: what is `random` stays, or is picked now. */
export const madeAs = (known: CronJob | undefined, wanted: Partial<CronJob>): CronJob => {
  const made = { ...(known ?? blank), ...wanted };
  for (const [key, range] of Object.entries(ranges) as [CronTimeKey, [number, number]][])
    if (isRandom(key, wanted[key])) made[key] = known?.[key] ?? String(randomInt(...range));
  return made;
};

const keysOf = (job: Partial<CronJob>) => Object.keys(job) as (keyof CronJob)[];

const isRandom = (key: string, value: unknown): boolean =>
  value === 'random' && Object.hasOwn(ranges, key);

/** From the first value to the one before the second. */
const ranges: Readonly<Record<CronTimeKey, [number, number]>> = {
  minute: [0, 60],
  hour: [0, 24],
  daymonth: [1, 29],
  month: [1, 13],
  dayweek: [0, 7],
};

const blank: CronJob = {
  minute: '*',
  hour: '*',
  daymonth: '*',
  month: '*',
  dayweek: '*',
  cmd: '',
  identifier: null,
  comment: null,
  commented: false,
};
