import { shortened } from '../shortened.ts';
import { type Data, type Dict, isDict } from '../values/value.ts';
import { shellQuote } from './shell-quote.ts';

export type KeyValueOptions = {
  /** Default `=`. */
  readonly separator?: string | undefined;
  /** true: write values quoted for a shell; false: read them without their quotes. */
  readonly quoting?: boolean | undefined;
  /** Default `\n`. */
  readonly lineEnding?: string | undefined;
};

/**
 * Formats a dictionary, or a list of pairs, as lines of keys and values; without a final line end.
 *
 * @param show formats a key or a value: Python's `str()`
 * @throws TypeError for data of another shape
 */
export const dumpKeyValues = (
  data: Data,
  { separator = '=', quoting = false, lineEnding = '\n' }: KeyValueOptions,
  show: (value: Data) => string,
): string =>
  pairsOf(data)
    .map(
      ([key, value]) =>
        `${show(key)}${separator}${quoting ? shellQuote(show(value)) : show(value)}`,
    )
    .join(lineEnding);

const pairsOf = (data: Data): (readonly [Data, Data])[] => {
  if (isDict(data)) return [...data];
  const wrong = new TypeError('keyvalue writes a dictionary or a list of pairs');
  if (!Array.isArray(data)) throw wrong;
  return data.map(pair => {
    const [key, value] = Array.isArray(pair) ? pair : [];
    if (key === undefined || value === undefined) throw wrong;
    return [key, value];
  });
};

/**
 * Parses lines of keys and values to a dictionary of strings.
 *
 * @throws TypeError for a line without the separator
 */
export const parseKeyValues = (
  text: string,
  { separator = '=', quoting }: KeyValueOptions = {},
): Dict => {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return new Map(
    lines.map(line => {
      const at = line.indexOf(separator);
      if (at < 0) throw new TypeError(`the line '${shortened(line)}' has no '${separator}'`);
      const value = line.slice(at + separator.length);
      const isQuoted = quoting === false && /^(["']).*\1$/s.test(value);
      return [line.slice(0, at), isQuoted ? value.slice(1, -1) : value];
    }),
  );
};
