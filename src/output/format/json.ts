import type { HostResult } from '../../protocol/event.ts';
import type { Plain } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { Format } from '../format.ts';
import type { OutputOptions } from '../options.ts';
import { dataByHost } from '../result.ts';
import { sortedKeys } from '../text.ts';

const written = (results: readonly HostResult[], { indent }: OutputOptions): string => {
  const data = dataByHost(results);
  return jsonText(indent === 'pretty' ? inOrder(data) : data, spaces(indent));
};

const spaces = (indent: OutputOptions['indent']): number =>
  indent === undefined || indent === 'pretty' ? 4 : Math.max(0, indent);

/** One JSON document for the hosts it is given (spec: salt.output.json_out). */
export const jsonFormat: Format = {
  longest: 100_000_000,
  format: written,
  joint: options => ({
    open: '{',
    between: ',',
    close: spaces(options.indent) === 0 ? '}' : '\n}',
    isSorted: options.indent === 'pretty',
    part: result => written([result], options).slice(1, -1).trimEnd(),
  }),
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
