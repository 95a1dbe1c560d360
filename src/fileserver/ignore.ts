import { globTest } from '../data/python/glob.ts';
import { pythonPattern } from '../data/python/python-pattern.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';

export type IgnoreRules = {
  /** Shell patterns over the whole relative path; `*` matches slashes too (Python's fnmatch). */
  readonly file_ignore_glob?: readonly string[];
  /** Python's regular expressions, found anywhere in the path. */
  readonly file_ignore_regex?: readonly string[];
};

/**
 * A test for `file_ignore_glob` and `file_ignore_regex`.
 *
 * @throws TsaltError `config-regex` for a pattern that is not a regular expression.
 */
export const ignoreTest = (rules: IgnoreRules): ((path: string) => boolean) => {
  const tests = [
    ...(rules.file_ignore_regex ?? []).map(toTest),
    ...(rules.file_ignore_glob ?? []).map(globTest),
  ];
  return path => tests.some(test => test(path));
};

const toTest = (pattern: string): ((path: string) => boolean) => {
  try {
    const regex = pythonPattern(pattern);
    return path => regex.test(path);
  } catch (error) {
    throw new TsaltError(
      'config-regex',
      `file_ignore_regex contains '${pattern}', which is not a regular expression: ${messageOf(error)}.`,
    );
  }
};
