import { TsaltError } from '../protocol/error.ts';

export type IgnoreRules = {
  /** Shell patterns over the whole relative path; `*` matches slashes too (Python's fnmatch). */
  readonly file_ignore_glob?: readonly string[];
  /** Regular expressions, found anywhere in the path. */
  readonly file_ignore_regex?: readonly string[];
};

/**
 * A test for `file_ignore_glob` and `file_ignore_regex`.
 *
 * @throws TsaltError `config-regex` for a pattern that is no regular expression.
 */
export const ignoreTest = (rules: IgnoreRules): ((path: string) => boolean) => {
  const tests = [
    ...(rules.file_ignore_regex ?? []).map(toRegExp),
    ...(rules.file_ignore_glob ?? []).map(globToRegExp),
  ];
  return path => tests.some(test => test.test(path));
};

const toRegExp = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new TsaltError(
      'config-regex',
      `file_ignore_regex holds '${pattern}', which is no regular expression: ${(error as Error).message}.`,
    );
  }
};

/** A shell pattern by the rules of Python's `fnmatch`: `*`, `?`, `[a-z]`, `[!a-z]`. */
const globToRegExp = (glob: string): RegExp => {
  let pattern = '';
  for (let index = 0; index < glob.length; index += 1) {
    const char = glob.charAt(index);
    const close = char === '[' ? glob.indexOf(']', index + 2) : -1;
    if (char === '*') pattern += '.*';
    else if (char === '?') pattern += '.';
    else if (close > 0) {
      const set = glob.slice(index + 1, close).replaceAll('\\', '\\\\');
      pattern += set.startsWith('!') ? `[^${set.slice(1)}]` : `[${set.replace(/^\^/, '\\^')}]`;
      index = close;
    } else pattern += char.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  }
  return new RegExp(`^(?:${pattern})$`, 's');
};
