import { fnmatch } from '../../data/python/glob.ts';
import { pythonRegex } from '../_shared/text/python-regex.ts';

type Patterns = string | readonly string[] | null | undefined;

/**
 * Applies Salt's `include_pat` and `exclude_pat`: globs, or regular expressions that start with
 * `E@`.
 */
export const isIncluded = (path: string, include: Patterns, exclude: Patterns): boolean =>
  (isEmpty(include) || listOf(include).some(pattern => patternMatches(path, pattern))) &&
  (isEmpty(exclude) || !listOf(exclude).some(pattern => patternMatches(path, pattern)));

const isEmpty = (patterns: Patterns): boolean =>
  patterns === null || patterns === undefined || patterns.length === 0;

const listOf = (patterns: Patterns): readonly string[] =>
  typeof patterns === 'string' ? [patterns] : (patterns ?? []);

const patternMatches = (path: string, pattern: string): boolean =>
  pattern.startsWith('E@') ? pythonRegex(pattern.slice(2)).test(path) : fnmatch(path, pattern);
