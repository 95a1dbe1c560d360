import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { __opts__, CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/** Minutes east of Greenwich: `-0600` → -360. Undefined: the machine's own zone. */
const minutesOf = (utc_offset: string | null): number | undefined => {
  if (utc_offset === null) return undefined;
  const [, sign, hours, minutes] = String(utc_offset).match(/^([+-])?(\d\d)(\d\d)$/) ?? [];
  if (hours === undefined)
    throw new SaltInvocationError(`Invalid UTC offset: ${utc_offset}. Write it as -0600.`);
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

type Moment = [year: number, month: number, day: number, h: number, m: number, s: number];

/** The clock on the wall, here or where the offset is. */
const now = (utc_offset: string | null): Moment => {
  const minutes = minutesOf(utc_offset);
  const local = new Date();
  const at = new Date(local.getTime() + (minutes ?? -local.getTimezoneOffset()) * 60_000);
  return [
    at.getUTCFullYear(),
    at.getUTCMonth() + 1,
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    at.getUTCSeconds(),
  ];
};

const two = (value: number): string => String(value).padStart(2, '0');

/**
 * The time of this machine, as `10:33:07 PM`.
 *
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.get_system_time
 */
export const get_system_time = async (utc_offset: string | null = null): Promise<string> => {
  const [, , , hour, minute, second] = now(utc_offset);
  return `${two(hour % 12 || 12)}:${two(minute)}:${two(second)} ${hour < 12 ? 'AM' : 'PM'}`;
};

/**
 * The date of this machine, as `Sat 11/21/2026`.
 *
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.get_system_date
 */
export const get_system_date = async (utc_offset: string | null = null): Promise<string> => {
  const [year, month, day] = now(utc_offset);
  const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  const weekday = names[new Date(Date.UTC(year, month - 1, day)).getUTCDay()];
  return `${weekday} ${two(month)}/${two(day)}/${year}`;
};

/**
 * The date and time of this machine, as `2026-11-21 22:33:07`.
 *
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.get_system_date_time utc_offset=-0500
 */
export const get_system_date_time = async (utc_offset: string | null = null): Promise<string> => {
  const [year, month, day, hour, minute, second] = now(utc_offset);
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
};

/**
 * Sets the time of this machine; the date stays.
 *
 * @param newtime `HH:MM`, `HH:MM:SS`, `HH:MM AM` or `HH:MM:SS PM`
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.set_system_time '11:20 PM'
 */
export const set_system_time = async (
  newtime: string,
  utc_offset: string | null = null,
): Promise<boolean> => {
  const [, hour, minute, second, half] =
    String(newtime).match(/^(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?(?: ([AP]M))?$/i) ?? [];
  if (hour === undefined || (half && (Number(hour) < 1 || Number(hour) > 12))) return false;
  const later = half?.toUpperCase() === 'PM' ? 12 : 0;
  return set_system_date_time({
    hours: half ? (Number(hour) % 12) + later : Number(hour),
    minutes: Number(minute),
    seconds: Number(second ?? 0),
    utc_offset,
  });
};

/**
 * Sets the date of this machine; the time stays.
 *
 * @param newdate `YYYY-MM-DD`, `MM-DD-YYYY`, `MM-DD-YY`, or with `/`
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.set_system_date '03-28-13'
 */
export const set_system_date = async (
  newdate: string,
  utc_offset: string | null = null,
): Promise<boolean> => {
  const text = String(newdate);
  const [, year, month, day] = text.match(/^(\d{4})([-/])(\d{1,2})\2(\d{1,2})$/)
    ? ['', ...text.split(/[-/]/)]
    : [];
  const [, month2, , day2, year2 = ''] =
    text.match(/^(\d{1,2})([-/])(\d{1,2})\2(\d{4}|\d{2})$/) ?? [];
  if (year === undefined && month2 === undefined)
    throw new SaltInvocationError(`Invalid date format: ${newdate}. Write YYYY-MM-DD.`);
  const short = Number(year2) + (Number(year2) < 69 ? 2000 : 1900);
  return set_system_date_time({
    years: Number(year ?? (year2.length === 4 ? year2 : short)),
    months: Number(month ?? month2),
    days: Number(day ?? day2),
    utc_offset,
  });
};

/**
 * Sets the date and time of this machine; what is left out stays.
 *
 * @param years the year
 * @param months the month
 * @param days the day of the month
 * @param hours 0 to 23
 * @param minutes 0 to 59
 * @param seconds 0 to 59
 * @param utc_offset the offset of another time zone: `-0600`
 * @example tsalt-ssh '*' system.set_system_date_time 2026 5 2 11 30 0 utc_offset=-0500
 */
export const set_system_date_time = async ({
  years = null,
  months = null,
  days = null,
  hours = null,
  minutes = null,
  seconds = null,
  utc_offset = null,
}: {
  years?: number | null;
  months?: number | null;
  days?: number | null;
  hours?: number | null;
  minutes?: number | null;
  seconds?: number | null;
  utc_offset?: string | null;
} = {}): Promise<boolean> => {
  const given = [years, months, days, hours, minutes, seconds];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = now(utc_offset).map(
    (part, at) => given[at] ?? part,
  );
  const moment = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isReal =
    moment.getUTCMonth() === month - 1 &&
    moment.getUTCDate() === day &&
    moment.getUTCHours() === hour &&
    moment.getUTCMinutes() === minute;
  if (!isReal)
    throw new SaltInvocationError(
      `There is no ${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}.`,
    );
  const offset = minutesOf(utc_offset);
  const there = new Date(moment.getTime() - (offset ?? 0) * 60_000);
  const stamp =
    two(there.getUTCMonth() + 1) +
    two(there.getUTCDate()) +
    two(there.getUTCHours()) +
    two(there.getUTCMinutes()) +
    `${there.getUTCFullYear()}.${two(there.getUTCSeconds())}`;
  if (__opts__.test) return true;
  const { code, stderr } = await runCommand(
    ['date', ...(offset === undefined ? [] : ['-u']), stamp],
    { plainLocale: true, cwd: '/' },
  );
  if (code !== 0) throw new CommandExecutionError(`date failed: ${stderr.trim()}`);
  return (await has_settable_hwclock()) ? toHardware() : true;
};

/**
 * Whether this machine has a clock of its own that can be set.
 *
 * @example tsalt-ssh '*' system.has_settable_hwclock
 */
export const has_settable_hwclock = async (): Promise<boolean> =>
  which('hwclock') !== undefined &&
  (await runCommand(['hwclock', '--test', '--systohc'], { plainLocale: true, cwd: '/' })).code ===
    0;

const toHardware = async (): Promise<true> => {
  const { code, stderr } = await runCommand(['hwclock', '--systohc'], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0)
    throw new CommandExecutionError(
      `hwclock failed to set hardware clock from software clock: ${stderr.trim()}`,
    );
  return true;
};
