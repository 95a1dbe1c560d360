import { basename } from 'node:path';
import { gidOf, uidOf } from '../_shared/files/owner-names.ts';
import { readFileSync, type Stats } from '../_shared/safe-fs/fs.ts';
import { pythonRegex } from '../_shared/text/python-regex.ts';
import { decodeForDiff } from '../_shared/text/text-diff.ts';
import { CommandExecutionError } from '../api.ts';
import { type FileKind, typeOf } from './file-stats.ts';

/** The criteria of `file.find`, like in Salt's utils/find.py. */

export type WalkedFile = { readonly path: string; readonly stats: Stats };
export type FindTest = (found: WalkedFile) => boolean;

const letters: Readonly<Record<FileKind, string>> = {
  dir: 'd',
  link: 'l',
  char: 'c',
  block: 'b',
  pipe: 'p',
  socket: 's',
  file: 'f',
};

/** The letter of a file's type. */
export const fileLetter = (stats: Stats): string => letters[typeOf(stats)];

/** Splits words separated by commas or spaces. */
export const splitList = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

const ignoreCase = 2;

/**
 * In names, `*` and `?` are wildcards; other characters are literal or Python regular expression
 * syntax.
 */
export const byName = (glob: string, flags = 0): FindTest => {
  const pattern = glob.replaceAll('.', '\\.').replaceAll('?', '.?').replaceAll('*', '.*');
  return byPattern(`${pattern}$`, flags);
};

/** Matches a regular expression at the start of the name. */
export const byPattern = (pattern: string, flags = 0): FindTest => {
  const regex = compile(`(?:${pattern})`, flags, pattern);
  return ({ path }) => regex.exec(basename(path))?.index === 0;
};

export const byNameInAnyCase = (glob: string): FindTest => byName(glob, ignoreCase);
export const byPatternInAnyCase = (pattern: string): FindTest => byPattern(pattern, ignoreCase);

/** Matches a regular expression anywhere in the content of a regular file. */
export const byContent = (pattern: string): FindTest => {
  const regex = compile(pattern, 0, pattern);
  return ({ path, stats }) => stats.isFile() && regex.test(decodeForDiff(readFileSync(path)));
};

const compile = (pattern: string, flags: number, shown: string): RegExp => {
  try {
    return pythonRegex(pattern, flags);
  } catch {
    throw new CommandExecutionError(`invalid regular expression: "${shown}"`);
  }
};

/** Matches file types, given as letters with or without spaces and commas. */
export const byType = (letters: string): FindTest => {
  const wanted = letters.replace(/[\s,]/g, '');
  const wrong = [...wanted].find(letter => !'bcdflps'.includes(letter));
  if (wrong !== undefined) throw new CommandExecutionError(`invalid file type "${wrong}"`);
  return ({ stats }) => wanted.includes(fileLetter(stats));
};

export const byOwner = (names: string): FindTest => {
  const ids = idsOf(names, 'user', uidOf);
  return ({ stats }) => ids.has(stats.uid);
};

export const byGroup = (names: string): FindTest => {
  const ids = idsOf(names, 'group', gidOf);
  return ({ stats }) => ids.has(stats.gid);
};

const idsOf = (
  names: string,
  kind: string,
  find: (name: string) => number | undefined,
): ReadonlySet<number> =>
  new Set(
    splitList(names).map(name => {
      const id = /^\d+$/.test(name) ? Number(name) : find(name);
      if (id === undefined) throw new CommandExecutionError(`no such ${kind} "${name}"`);
      return id;
    }),
  );

const sizeUnits: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

/**
 * `+10m` matches that size and larger, `-1k` that size and smaller; without a sign, the size must be
 * equal when rounded down to the unit.
 */
export const bySize = (size: string): FindTest => {
  const [, sign, number, unit = ''] =
    /^\s*([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([bkmgt]?)\s*$/i.exec(size) ?? [];
  if (number === undefined) throw new CommandExecutionError(`invalid size: "${size}"`);
  const step = sizeUnits[unit.toLowerCase()] ?? 1;
  const least = Math.trunc(Number(number) * step);
  if (sign === '+') return ({ stats }) => stats.size >= least;
  if (sign === '-') return ({ stats }) => stats.size <= least;
  return ({ stats }) => stats.size >= least && stats.size < least + step;
};

const timeUnits = [604_800, 86_400, 3600, 60, 1];

/** `3d`, `1w2d` match files changed before that; with `-`, those changed since then. */
export const byTime = (span: string): FindTest => {
  const number = String.raw`(\d+(?:\.\d*)?)`;
  const parts = ['w', 'd', 'h', 'm', 's'].map(unit => `(?:${number}\\s*${unit})?`).join('\\s*');
  const [, sign, ...amounts] = new RegExp(`^\\s*([+-]?)${parts}\\s*$`, 'i').exec(span) ?? [];
  const last = amounts.findLastIndex(amount => amount !== undefined);
  const step = timeUnits[last];
  if (step === undefined) throw new CommandExecutionError(`invalid time interval: '${span}'`);
  const seconds = amounts.reduce(
    (sum, amount, at) => sum + Number(amount ?? 0) * (timeUnits[at] ?? 0),
    0,
  );
  const border = Date.now() / 1000 - Math.trunc(seconds / step) * step;
  return sign === '-'
    ? ({ stats }) => Math.floor(stats.mtimeMs / 1000) >= border
    : ({ stats }) => Math.floor(stats.mtimeMs / 1000) <= border;
};
