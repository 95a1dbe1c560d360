import { expandReplacement } from '../../../data/python/python-replacement.ts';
import { filterRegex, matchesYielding } from '../../filters/python-regex.ts';
import { after, type Eventual } from '../after.ts';
import { JinjaError, raise, raiseLimit } from '../jinja-error.ts';
import type { Operations } from '../run/run.ts';
import { isTruthy } from '../values/compare.ts';
import { longestText, textOf } from '../values/text.ts';
import { tuple, type Value } from '../values/value.ts';
import { operations } from './define.ts';

const longestSubject = 4_000_000;

/** All matches of a pattern from a template. A pattern that takes too long is stopped. */
const matches = (pattern: RegExp, text: string): Eventual<RegExpMatchArray[]> => {
  if (text.length > longestSubject) raiseLimit('A text for a regular expression is too long');
  return after(
    matchesYielding(pattern, text),
    found => found ?? raiseLimit(`The regular expression '${pattern.source}' took too long`),
  );
};

type Flags = {
  readonly ignorecase: boolean;
  readonly multiline: boolean;
  readonly sticky?: boolean;
};

const compiled = (pattern: string, flags: Flags): RegExp => {
  try {
    return filterRegex(pattern, { ...flags, global: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new JinjaError('error', error.message, { cause: error });
  }
};

/** Whether the text matches at its start. */
export const regexMatches = (text: string, pattern: string, flags: Flags): Eventual<boolean> =>
  after(firstMatch(text, pattern, { ...flags, sticky: true }), found => found !== undefined);

const firstMatch = (
  text: string,
  pattern: string,
  flags: Flags,
): Eventual<RegExpMatchArray | undefined> =>
  after(matches(compiled(pattern, flags), text), ([found]) => found);

const groups = (found: RegExpMatchArray | undefined): Value =>
  found ? tuple(found.slice(1).map(group => group ?? null)) : null;

const replace = (text: string, pattern: string, fresh: string, flags: Flags): Eventual<string> =>
  after(matches(compiled(pattern, flags), text), all => {
    let result = '';
    let at = 0;
    for (const found of all) {
      result += text.slice(at, found.index) + expandReplacement(fresh, found, found.groups);
      at = (found.index ?? 0) + found[0].length;
      if (result.length > longestText) raiseLimit('A text grew too long');
    }
    return result + text.slice(at);
  });

const params = ['rgx', 'ignorecase?', 'multiline?'];

const subject = (value: Value): string =>
  typeof value === 'string' || typeof value === 'object'
    ? textOf(value)
    : raise('expected string or bytes-like object');

/** Reads flags from the arguments of a filter or test. */
export const flagsOf = (ignorecase: Value = false, multiline: Value = false): Flags => ({
  ignorecase: isTruthy(ignorecase),
  multiline: isTruthy(multiline),
});

/** Salt's filters on regular expressions. */
export const regexFilters: Operations = operations({
  regex_search: [
    params,
    (value, [pattern = '', ignorecase, multiline]) =>
      after(firstMatch(subject(value), textOf(pattern), flagsOf(ignorecase, multiline)), groups),
  ],
  regex_match: [
    params,
    (value, [pattern = '', ignorecase, multiline]) =>
      after(
        firstMatch(subject(value), textOf(pattern), {
          ...flagsOf(ignorecase, multiline),
          sticky: true,
        }),
        groups,
      ),
  ],
  regex_replace: [
    ['rgx', 'val', 'ignorecase?', 'multiline?'],
    (value, [pattern = '', fresh = '', ignorecase, multiline]) =>
      replace(subject(value), textOf(pattern), textOf(fresh), flagsOf(ignorecase, multiline)),
  ],
});
