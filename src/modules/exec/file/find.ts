import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SaltInvocationError } from '../../api.ts';
import { expandUser, statOf } from '../../lib/file-paths.ts';
import { typeOf } from '../../lib/file-stats.ts';
import { fnmatch } from '../../lib/glob-match.ts';
import { globPaths } from '../../lib/glob-paths.ts';
import { groupName, userName } from '../../lib/owner-names.ts';
import { pythonRegex } from '../../lib/python-regex.ts';

type FindOptions = {
  name?: string | null;
  iname?: string | null;
  regex?: string | null;
  iregex?: string | null;
  type?: string | null;
  user?: string | null;
  group?: string | null;
  size?: string | null;
  mtime?: string | null;
  grep?: string | null;
  maxdepth?: number | null;
  mindepth?: number | null;
  print?: string | null;
};

/**
 * Finds files below a directory, or below what a glob matches.
 *
 * @param path where to look
 * @param name glob for the name
 * @param iname the same, in any case of letters
 * @param regex regular expression (Python's syntax) for the whole path
 * @param iregex the same, in any case of letters
 * @param type letters: `f` file, `d` directory, `l` symlink, `b`, `c`, `p`, `s`
 * @param user names or ids of owners, with commas
 * @param group names or ids of groups, with commas
 * @param size `+10m` larger, `-1k` smaller, `512b`, `1k-4k` between
 * @param mtime changed within: `2w`, `3d`, `12h`; `+` before it: longer ago
 * @param grep regular expression that a line of the file matches
 * @param maxdepth look so deep
 * @param mindepth leave out what is less deep
 * @param print what to give: `path`, `name`, `size`, `type`, `user`, `group`, `mode`, `mtime`, with commas
 *
 * @example tsalt-ssh '*' file.find /var/log name='*.gz' mtime=+30d print=path,size
 */
export const find = async (
  path: string,
  {
    name = null,
    iname = null,
    regex = null,
    iregex = null,
    type = null,
    user = null,
    group = null,
    size = null,
    mtime = null,
    grep = null,
    maxdepth = null,
    mindepth = null,
    print = null,
  }: FindOptions = {},
): Promise<(string | number | (string | number)[])[]> => {
  const tests: Test[] = [];
  if (name !== null) tests.push(({ path: at }) => fnmatch(basename(at), name));
  if (iname !== null)
    tests.push(({ path: at }) => fnmatch(basename(at).toLowerCase(), iname.toLowerCase()));
  if (regex !== null) tests.push(({ path: at }) => pythonRegex(regex).test(at));
  if (iregex !== null) tests.push(({ path: at }) => pythonRegex(iregex, 2).test(at));
  if (type !== null) tests.push(({ stats }) => type.includes(letterOf(stats)));
  if (user !== null) tests.push(({ stats }) => isOneOf(user, stats.uid, userName(stats.uid)));
  if (group !== null) tests.push(({ stats }) => isOneOf(group, stats.gid, groupName(stats.gid)));
  if (size !== null) tests.push(({ stats }) => inRange(stats.size, size, sizeUnits));
  if (mtime !== null) tests.push(({ stats }) => isYoung(stats.mtimeMs, mtime));
  if (grep !== null) {
    const { contains_regex } = await import('./contains.ts');
    const hits = new Set<string>();
    for (const start of globPaths(expandUser(path)))
      for (const each of walk(start, maxdepth, mindepth))
        if (each.stats.isFile() && (await contains_regex(each.path, grep))) hits.add(each.path);
    tests.push(({ path: at }) => hits.has(at));
  }
  return globPaths(expandUser(path))
    .flatMap(start => walk(start, maxdepth, mindepth))
    .filter(entry => tests.every(test => test(entry)))
    .map(entry => show(entry, print))
    .sort();
};

type Entry = { path: string; stats: Stats };
type Test = (entry: Entry) => boolean;

const walk = (path: string, max: number | null, min: number | null, depth = 0): Entry[] => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  const own = depth >= (min ?? 0) ? [{ path, stats }] : [];
  if (!stats.isDirectory() || (max !== null && depth >= max)) return own;
  return [
    ...own,
    ...readdirSync(path).flatMap(name => walk(join(path, name), max, min, depth + 1)),
  ];
};

const letters: Readonly<Record<string, string>> = {
  dir: 'd',
  link: 'l',
  char: 'c',
  block: 'b',
  pipe: 'p',
  socket: 's',
  file: 'f',
};

const letterOf = (stats: Stats): string => letters[typeOf(stats)] ?? 'f';

const isOneOf = (list: string, id: number, name: string | number): boolean =>
  String(list)
    .split(',')
    .some(item => item.trim() === String(id) || item.trim() === String(name));

const sizeUnits: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};
const timeUnits: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 };

const inRange = (
  value: number,
  range: string,
  units: Readonly<Record<string, number>>,
): boolean => {
  const [, sign, low, unit = 'b', high, highUnit = 'b'] =
    range.toLowerCase().match(/^([+-]?)(\d+)([bkmgt]?)(?:-(\d+)([bkmgt]?))?$/) ?? [];
  if (low === undefined) throw new SaltInvocationError(`invalid size: "${range}"`);
  const start = Number(low) * (units[unit || 'b'] ?? 1);
  if (high !== undefined)
    return value >= start && value <= Number(high) * (units[highUnit || 'b'] ?? 1);
  return sign === '+' ? value >= start : sign === '-' ? value <= start : value === start;
};

const isYoung = (time: number, span: string): boolean => {
  const [, sign, rest = ''] = String(span).match(/^([+-]?)((?:\d+[wdhms]?)+)$/) ?? [];
  if (rest === '') throw new SaltInvocationError(`invalid time span: "${span}"`);
  const seconds = [...rest.matchAll(/(\d+)([wdhms]?)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (timeUnits[unit || 'd'] ?? 1),
    0,
  );
  const age = (Date.now() - time) / 1000;
  return sign === '+' ? age >= seconds : age <= seconds;
};

const show = (
  { path, stats }: Entry,
  print: string | null,
): string | number | (string | number)[] => {
  const fields: Readonly<Record<string, () => string | number>> = {
    path: () => path,
    name: () => basename(path),
    dir: () => dirname(path),
    size: () => stats.size,
    type: () => letterOf(stats),
    user: () => userName(stats.uid),
    group: () => groupName(stats.gid),
    mode: () => (stats.mode & 0o7777).toString(8),
    mtime: () => Math.floor((statOf(path) ?? stats).mtimeMs / 1000),
  };
  const wanted = (print ?? 'path').split(',').map(part => part.trim());
  const values = wanted.map(key => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (!field) throw new SaltInvocationError(`invalid print option: "${key}"`);
    return field();
  });
  return values.length === 1 ? (values[0] ?? path) : values;
};
