import { SaltInvocationError } from '../api.ts';

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

const fields: Readonly<Record<string, string>> = {
  Y: '(?<Y>\\d{4})',
  y: '(?<y>\\d{2})',
  m: '(?<m>\\d{1,2})',
  d: '(?<d>\\d{1,2})',
  H: '(?<H>\\d{1,2})',
  M: '(?<M>\\d{1,2})',
  S: '(?<S>\\d{1,2})',
  j: '(?<j>\\d{1,3})',
  b: '(?<b>[A-Za-z]{3})',
  f: '\\d{1,6}',
  '%': '%',
};

/** Parses a time in a `strptime` format, as UTC; undefined if the text does not match. */
export const parseTime = (text: string, format: string): Date | undefined => {
  const source = format.replace(/%(.)|[\\^$.|?*+()[\]{}]/g, (all, field?: string) => {
    if (field === undefined) return `\\${all}`;
    const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (known === undefined)
      throw new SaltInvocationError(`'%${field}' is not supported in strptime_format '${format}'`);
    return known;
  });
  const groups = text.match(new RegExp(`^${source}$`))?.groups;
  if (!groups) return undefined;
  const number = (key: string, fallback: number): number =>
    groups[key] === undefined ? fallback : Number(groups[key]);
  const year = groups.y === undefined ? number('Y', 1900) : century(Number(groups.y));
  const named = months.indexOf((groups.b ?? '').toLowerCase());
  const month = named >= 0 ? named : number('m', 1) - 1;
  const day = groups.j === undefined ? number('d', 1) : Number(groups.j);
  const time = new Date(
    Date.UTC(
      year,
      groups.j === undefined ? month : 0,
      day,
      number('H', 0),
      number('M', 0),
      number('S', 0),
    ),
  );
  return groups.j !== undefined || (time.getUTCMonth() === month && time.getUTCDate() === day)
    ? time
    : undefined;
};

const century = (year: number): number => (year < 69 ? 2000 + year : 1900 + year);
