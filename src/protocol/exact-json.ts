import { dictOf, hasOrderedDicts, isOrderedDict } from './key-order.ts';
import { type Plain, type PlainDict, setOwn } from './plain.ts';
import { hasWholeFloats, isWholeFloat, markWholeFloat } from './whole-floats.ts';

/**
 * The key of values that plain JSON does not preserve: the pairs of a dict with its own key order,
 * or the number of a float without a fraction.
 */
const mark = '\u0000';

/**
 * Writes a message.
 *
 * @param stringOf - Returns the JSON of a string.
 * @returns `marked`: whether the text contains marks and must be read by `parseExact`
 */
export const stringify = (
  message: unknown,
  stringOf?: (string: string) => string,
): { text: string; marked: boolean } => {
  const isPlain = !hasOrderedDicts() && !hasWholeFloats();
  if (isPlain && !stringOf) return { text: JSON.stringify(message), marked: false };
  let marked = false;
  const text = JSON.stringify(message, function (this: object, key: string, value: unknown) {
    if (typeof value === 'string') return stringOf ? stringOf(value) : value;
    if (isPlain) return value;
    if (typeof value === 'number') {
      if (!isWholeFloat(this, key)) return value;
      marked = true;
      return { [mark]: value };
    }
    if (typeof value !== 'object' || value === null) return value;
    if (!isOrderedDict(value) && !Object.hasOwn(value, mark)) return value;
    marked = true;
    return { [mark]: pairsOf(value as PlainDict) };
  });
  return { text, marked };
};

const pairsOf = (dict: PlainDict): [string, Plain][] =>
  Object.entries(dict).map(pair => {
    if (isWholeFloat(dict, pair[0])) markWholeFloat(pair, 1);
    return pair;
  });

/** Reads text that `stringify` wrote with marks. Values that only resemble marks stay unchanged. */
export const parseExact = (
  text: string,
  complete: (key: string, value: unknown) => unknown = (_, value) => value,
): unknown =>
  JSON.parse(text, function (this: object, key: string, value: unknown) {
    return withoutMarks.call(this, key, complete(key, value));
  });

/** Replaces a marked value by the value it encodes. */
export const completeMarked = (holder: object, key: string): void => {
  const value = (holder as PlainDict)[key];
  setOwn(holder as PlainDict, key, withoutMarks.call(holder, key, value) as Plain);
};

function withoutMarks(this: object, key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, mark)) return value;
  const inside = (value as PlainDict)[mark];
  if (typeof inside === 'number') {
    markWholeFloat(this, key);
    return inside;
  }
  return Array.isArray(inside) && inside.every(isPair) ? dictFrom(inside) : value;
}

const dictFrom = (pairs: readonly [string, Plain][]): PlainDict => {
  const dict = dictOf(pairs);
  for (const pair of pairs) if (isWholeFloat(pair, 1)) markWholeFloat(dict, pair[0]);
  return dict;
};

const isPair = (pair: Plain): pair is [string, Plain] =>
  Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string';
