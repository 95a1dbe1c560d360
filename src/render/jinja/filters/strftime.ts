const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const two = (value: number): string => String(value).padStart(2, '0');

const dayOfYear = (date: Date): number =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) -
      Date.UTC(date.getFullYear(), 0, 1)) /
      86_400_000,
  ) + 1;

const week = (date: Date, first: number): number =>
  Math.floor((dayOfYear(date) - 1 + 7 - ((date.getDay() - first + 7) % 7)) / 7);

const offset = (date: Date): string => {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${two(size % 60)}`;
};

const parts: Readonly<Record<string, (date: Date) => string>> = {
  Y: date => String(date.getFullYear()),
  y: date => two(date.getFullYear() % 100),
  m: date => two(date.getMonth() + 1),
  d: date => two(date.getDate()),
  e: date => String(date.getDate()).padStart(2),
  H: date => two(date.getHours()),
  I: date => two(date.getHours() % 12 || 12),
  M: date => two(date.getMinutes()),
  S: date => two(date.getSeconds()),
  f: date => String(date.getMilliseconds() * 1000).padStart(6, '0'),
  p: date => (date.getHours() < 12 ? 'AM' : 'PM'),
  a: date => (days[date.getDay()] ?? '').slice(0, 3),
  A: date => days[date.getDay()] ?? '',
  b: date => (months[date.getMonth()] ?? '').slice(0, 3),
  h: date => (months[date.getMonth()] ?? '').slice(0, 3),
  B: date => months[date.getMonth()] ?? '',
  j: date => String(dayOfYear(date)).padStart(3, '0'),
  U: date => two(week(date, 0)),
  W: date => two(week(date, 1)),
  w: date => String(date.getDay()),
  u: date => String(date.getDay() || 7),
  s: date => String(Math.floor(date.getTime() / 1000)),
  z: offset,
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
  F: date => formatDate(date, '%Y-%m-%d'),
  T: date => formatDate(date, '%H:%M:%S'),
  R: date => formatDate(date, '%H:%M'),
  D: date => formatDate(date, '%m/%d/%y'),
  x: date => formatDate(date, '%m/%d/%y'),
  X: date => formatDate(date, '%H:%M:%S'),
  c: date => formatDate(date, '%a %b %e %H:%M:%S %Y'),
};

/** Formats a date by a `strftime` format, in the local time zone and the C locale. */
export const formatDate = (date: Date, format: string): string =>
  format.replace(/%([a-zA-Z%])/g, (whole, letter: string) =>
    Object.hasOwn(parts, letter) ? (parts[letter]?.(date) ?? whole) : whole,
  );
