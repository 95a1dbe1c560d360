import type { HostResult } from '../../protocol/event.ts';
import type { Plain } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { Format } from '../format.ts';
import { safeJson, writeJson } from '../json-pieces.ts';
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
    part: (result, write) => {
      const { indent } = options;
      const data = dataByHost([result]);
      const value = data[result.id] ?? null;
      const columns = spaces(indent);
      const name = safeJson(JSON.stringify(result.id));
      let before = columns === 0 ? `${name}:` : `\n${' '.repeat(columns)}${name}: `;
      const piece = (text: string): void => {
        write(before + text);
        before = '';
      };
      writeJson(indent === 'pretty' ? inOrder(value) : value, piece, columns, 1);
    },
  }),
};

/** JSON whose text is safe to print; an indent of 0 returns one line. */
export const jsonText = (value: unknown, indent = 0): string =>
  safeJson(JSON.stringify(value, null, indent));

const inOrder = (value: Plain): Plain => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isPlainDict(value)) return value;
  return Object.fromEntries(sortedKeys(value).map(key => [key, inOrder(value[key] ?? null)]));
};
