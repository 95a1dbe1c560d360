import { pythonRegex } from './python-regex.ts';

/** Shell-style match of a whole text, as Python's `fnmatch` (`*` also matches `/`). */
export const fnmatch = (text: string, pattern: string): boolean => globRegex(pattern).test(text);

const known = new Map<string, RegExp>();

const globRegex = (pattern: string): RegExp => {
  const cached = known.get(pattern);
  if (cached) return cached;
  const source = pattern.replace(/\[[!]?\]?[^\]]*\]|[\s\S]/g, part => {
    if (part === '*') return '[\\s\\S]*';
    if (part === '?') return '[\\s\\S]';
    return part.length > 1 ? classOf(part.slice(1, -1)) : part.replace(/[\\^$.|+(){}[\]/]/, '\\$&');
  });
  const regex = new RegExp(`^${source}$`, 's');
  known.set(pattern, regex);
  return regex;
};

/** A range that runs backwards matches nothing, as in Python. */
const classOf = (inner: string): string => {
  const negated = inner.startsWith('!');
  const body = (negated ? inner.slice(1) : inner).replace(/(.)-(.)/gs, (range, from, to) =>
    from > to ? '' : range,
  );
  if (body === '') return negated ? '[\\s\\S]' : '(?!)';
  return `[${negated ? '^' : ''}${body.replace(/[\\[\]^]/g, '\\$&')}]`;
};

type Patterns = string | readonly string[] | null | undefined;

/** Salt's `include_pat` and `exclude_pat`: globs, or regular expressions that start with `E@`. */
export const isIncluded = (path: string, include: Patterns, exclude: Patterns): boolean =>
  (isEmpty(include) || listOf(include).some(pattern => patternMatches(path, pattern))) &&
  (isEmpty(exclude) || !listOf(exclude).some(pattern => patternMatches(path, pattern)));

const isEmpty = (patterns: Patterns): boolean =>
  patterns === null || patterns === undefined || patterns.length === 0;

const listOf = (patterns: Patterns): readonly string[] =>
  typeof patterns === 'string' ? [patterns] : (patterns ?? []);

const patternMatches = (path: string, pattern: string): boolean =>
  pattern.startsWith('E@') ? pythonRegex(pattern.slice(2)).test(path) : fnmatch(path, pattern);
