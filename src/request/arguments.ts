import { isDeepStrictEqual } from 'node:util';
import type { Data, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';

const keyword = /^([\p{L}_][\p{L}\p{N}\p{M}_.-]*)=(?!=)(.*)\n?$/u;

/**
 * Splits a function's arguments the way Salt does: `key=value` is a keyword argument, both
 * kinds are typed by YAML (spec: salt.utils.args.parse_input).
 *
 * Salt uses the last of several values for a keyword; here they are refused.
 *
 * @param noParse keyword arguments that stay strings (`--no-parse`)
 * @param load parses one argument
 * @throws TsaltError `usage-argument`
 */
export const splitArguments = (
  words: readonly string[],
  noParse: readonly string[],
  load: (text: string) => Data,
): { args: Data[]; kwargs: Dict } => {
  const args: Data[] = [];
  const kwargs: Dict = new Map();
  for (const word of words) {
    const [, key, value = ''] = keyword.exec(word) ?? [];
    if (key === undefined) {
      args.push(load(word));
      continue;
    }
    const typed = noParse.includes(key) ? value : load(value);
    // Values are not shown, since they may be secrets.
    if (kwargs.has(key) && !isDeepStrictEqual(kwargs.get(key), typed))
      throw new TsaltError(
        'usage-argument',
        `The argument '${key}' is given more than once, with different values.`,
        { hint: 'Salt would take the last one. Remove the wrong one.' },
      );
    kwargs.set(key, typed);
  }
  return { args, kwargs };
};
