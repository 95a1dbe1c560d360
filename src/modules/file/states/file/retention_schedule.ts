import { join } from 'node:path';
import { expandUser, isDir } from '../../../_shared/files/file-paths.ts';
import { lstatSync, readdirSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { parseTime } from '../../parse-time.ts';

/**
 * Keeps some of the files in a directory, by age, and removes the others.
 *
 * @param name the directory
 * @param retain the number of files to keep, or `all`, by `most_recent`, `first_of_hour`, `first_of_day`,
 *   `first_of_week`, `first_of_month` and `first_of_year`
 * @param strptime_format the format of the time in the file names; without it, modification times are used
 * @param timezone accepted for compatibility: times in names are used as they are, modification times are local
 *
 * @example
 * /var/backups/app:
 *   file.retention_schedule:
 *     - retain:
 *         most_recent: 5
 *         first_of_week: 4
 *     - strptime_format: app-%Y-%m-%d.tar.gz
 */
export const retention_schedule = async (
  name: string,
  retain: Record<string, number | string>,
  {
    strptime_format = null,
    timezone: _timezone = null,
  }: { strptime_format?: string | null; timezone?: string | null } = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.retention_schedule');
  if (!isDir(path)) return failed(ret, 'Name provided to file.retention must be a directory');
  const unknown = Object.keys(retain).find(rule => !Object.hasOwn(periods, rule));
  if (unknown !== undefined)
    return failed(ret, `${unknown} is not a rule; use ${Object.keys(periods).join(', ')}`);
  const unclear = Object.entries(retain).find(([, count]) => limitOf(count) === undefined);
  if (unclear)
    return failed(ret, `${unclear[0]} must be a number of files or all, not ${unclear[1]}`);
  const all = readdirSync(path).map(file => ({ file, time: timeOf(path, file, strptime_format) }));
  const dated = all.filter((entry): entry is Dated => entry.time !== undefined);
  const kept = new Set<string>();
  for (const [rule, count] of Object.entries(retain)) {
    for (const file of firstOfEach(dated, rule, limitOf(count) ?? 0)) kept.add(file);
  }
  const newestFirst = (files: string[]): string[] => files.sort().reverse();
  const deleted = newestFirst(dated.map(({ file }) => file).filter(file => !kept.has(file)));
  const ignored = newestFirst([
    ...all.filter(({ time }) => !time).map(({ file }) => file),
    '.',
    '..',
  ]);
  const changes = deleted.length > 0 ? { retained: newestFirst([...kept]), deleted, ignored } : {};
  if (__opts__.test)
    return {
      ...ret,
      changes,
      result: deleted.length > 0 ? null : true,
      comment: `${deleted.length} backups would have been removed from ${path}.\n`,
    };
  for (const file of deleted) await __salt__['file.remove']?.(join(path, file));
  return { ...ret, changes, comment: `${deleted.length} backups were removed from ${path}.\n` };
};

type Dated = { file: string; time: Date };

/**
 * Returns the number of files that a rule keeps; undefined if it is not a number, so that nothing is
 * removed.
 */
const limitOf = (count: unknown): number | undefined => {
  if (count === 'all') return Number.POSITIVE_INFINITY;
  return /^\d+$/.test(String(count)) ? Number(count) : undefined;
};

const timeOf = (dir: string, file: string, format: string | null): Date | undefined =>
  format === null ? localTime(lstatSync(join(dir, file)).mtime) : parseTime(file, format);

/** Returns a time whose UTC fields are the local time's. */
const localTime = (time: Date): Date =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000);

/** Days since Monday. */
const weekday = (time: Date): number => (time.getUTCDay() + 6) % 7;

const two = (value: number): string => String(value).padStart(2, '0');

/** The period that a time falls into, as a sortable string, by rule. */
const periods: Readonly<Record<string, (time: Date) => string>> = {
  most_recent: time => time.toISOString(),
  first_of_hour: time => time.toISOString().slice(0, 13),
  first_of_day: time => time.toISOString().slice(0, 10),
  // Salt combines the week of ISO 8601 with the calendar year.
  first_of_week: time => {
    const thursday = new Date(time);
    thursday.setUTCDate(time.getUTCDate() + 3 - weekday(time));
    const start = Date.UTC(thursday.getUTCFullYear(), 0, 1);
    const week = Math.floor((thursday.getTime() - start) / 604_800_000) + 1;
    return `${time.getUTCFullYear()}-${two(week)}`;
  },
  first_of_month: time => time.toISOString().slice(0, 7),
  first_of_year: time => time.toISOString().slice(0, 4),
};

const firstOfEach = (dated: Dated[], rule: string, limit: number): string[] => {
  const first = new Map<string, Dated>();
  for (const entry of dated) {
    const period = periods[rule]?.(entry.time) ?? '';
    const known = first.get(period);
    if (!known || isBefore(entry.time, known.time, rule)) first.set(period, entry);
  }
  return (
    [...first.keys()]
      .sort()
      .reverse()
      // For `first_of_week`, Salt keeps one week more than configured.
      .slice(0, rule === 'first_of_week' ? limit + 1 : limit)
      .map(period => first.get(period)?.file ?? '')
  );
};

/**
 * Compares times; for `first_of_week` first by weekday, because one week number can occur at the
 * start and the end of a year.
 */
const isBefore = (time: Date, known: Date, rule: string): boolean => {
  const days = rule === 'first_of_week' ? weekday(time) - weekday(known) : 0;
  return days === 0 ? time < known : days < 0;
};
