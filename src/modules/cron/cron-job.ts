import { randomInt } from 'node:crypto';
import type { CronJob } from './crontab.ts';

/** One time field of a job; `random` picks a value once. */
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

/** The options of a job besides its command and its time. */
export type CronJobOptions = {
  /** a comment above it */
  comment?: string | null;
  /** write it commented out */
  commented?: boolean;
  /** finds the job again when its command changes */
  identifier?: string | boolean | null;
};

/** Identifies a job by Salt's rule: by its identifier, or by its command if it has none. */
export const isSameJob = (
  job: CronJob,
  cmd: string,
  identifier: CronJobOptions['identifier'],
): boolean => (job.identifier ? job.identifier === identifier : job.cmd === cmd);

/** The desired job; a comment or identifier of null leaves the current one unchanged. */
export type DesiredJob = CronJobOptions & {
  readonly cmd: string;
  /** The five times, or a special one. */
  readonly when: Readonly<CronTimes> | { readonly spec: string };
};

/**
 * Returns the desired job, or undefined if the current one already equals it.
 *
 * @param known the current job; undefined for a new one
 * @param pick chooses a time for `random`, where none is chosen yet
 */
export const changedJob = (
  known: CronJob | undefined,
  { cmd, comment = null, commented = false, identifier = null, when }: DesiredJob,
  pick: (key: CronTimeKey) => string = anyTime,
): CronJob | undefined => {
  const before = known ?? blank;
  const made: CronJob = {
    ...('spec' in when ? {} : noTimes),
    cmd,
    comment: comment === null ? before.comment : comment.trimEnd() || null,
    commented,
    identifier:
      typeof identifier === 'string' && identifier !== '' ? identifier : before.identifier,
  };
  for (const [key, value] of Object.entries(when)) {
    const text = String(value).toLowerCase();
    const now = before[key as CronTimeKey] ?? '*';
    Object.assign(made, {
      [key]: text !== 'random' ? text : now === '*' ? pick(key as CronTimeKey) : now,
    });
  }
  const same = (key: keyof CronJob): boolean => (known?.[key] ?? null) === (made[key] ?? null);
  return known && compared.every(same) ? undefined : made;
};

/** Each range: the first value, and the one after the last. */
const ranges: Readonly<Record<CronTimeKey, [number, number]>> = {
  minute: [0, 60],
  hour: [0, 24],
  daymonth: [1, 29],
  month: [1, 13],
  dayweek: [0, 7],
};

const anyTime = (key: CronTimeKey): string => String(randomInt(...ranges[key]));

const noTimes = { minute: '*', hour: '*', daymonth: '*', month: '*', dayweek: '*' };

const blank: CronJob = { ...noTimes, cmd: '', identifier: null, comment: null, commented: false };

const compared = [...Object.keys(blank), 'spec'] as (keyof CronJob)[];
