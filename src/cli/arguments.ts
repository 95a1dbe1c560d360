import type { Data, Dict } from '../data/value.ts';

const keyword = /^([\p{L}_][\p{L}\p{N}\p{M}_.-]*)=(?!=)(.*)\n?$/u;

/**
 * Splits a function's arguments the way Salt does: `key=value` is a keyword argument, both
 * kinds are typed by YAML (spec: salt.utils.args.parse_input).
 *
 * @param noParse keyword arguments that stay text (`--no-parse`)
 * @param load types one argument
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
    if (key === undefined) args.push(load(word));
    else kwargs.set(key, noParse.includes(key) ? value : load(value));
  }
  return { args, kwargs };
};
