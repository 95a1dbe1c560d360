import type { Plain } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { Format } from '../format.ts';
import { dataByHost } from '../result.ts';
import { sortedKeys } from '../text.ts';

/** One JSON document for the hosts it is given (spec: salt.output.json_out). */
export const jsonFormat: Format = {
  format: (results, { indent }) => {
    const data = dataByHost(results);
    if (indent === 'pretty') return jsonText(inOrder(data), 4);
    return jsonText(data, indent === undefined ? 4 : Math.max(0, indent));
  },
};

// JSON.stringify leaves these as they are, and a terminal obeys them.
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** JSON whose text is safe to print; an indent of 0 gives one line. */
export const jsonText = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replace(
    unsafe,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const inOrder = (value: Plain): Plain => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isPlainDict(value)) return value;
  return Object.fromEntries(sortedKeys(value).map(key => [key, inOrder(value[key] ?? null)]));
};
