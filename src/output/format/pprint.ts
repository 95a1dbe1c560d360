import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import type { Format } from '../format.ts';
import { dataByHost } from '../result.ts';
import { repr, sortedKeys } from '../text.ts';

const width = 80;

/** All of it as Python's `pprint` writes it, 80 columns wide (spec: salt.output.pprint). */
export const pprintFormat: Format = {
  longest: 1_000_000,
  format: (results, { indent }) =>
    new Printer(typeof indent === 'number' && indent >= 0 ? indent : 1).print(dataByHost(results)),
};

/** On one line. Python sorts the keys wherever `pprint` writes a dictionary. */
const line = (value: Plain): string => {
  if (Array.isArray(value)) return `[${value.map(line).join(', ')}]`;
  if (!isPlainDict(value)) return repr(value);
  const pairs = sortedKeys(value).map(key => `${repr(key)}: ${line(value[key] ?? null)}`);
  return `{${pairs.join(', ')}}`;
};

class Printer {
  readonly #step: number;

  constructor(step: number) {
    this.#step = step;
  }

  print(value: Plain): string {
    return this.#any(value, 0, 0, 1);
  }

  /** `column` is where it starts, `after` what still follows on its last line. */
  #any(value: Plain, column: number, after: number, level: number): string {
    const whole = line(value);
    if (whole.length <= width - column - after) return whole;
    if (Array.isArray(value)) return `[${this.#list(value, column, after + 1, level)}]`;
    if (isPlainDict(value)) return `{${this.#dict(value, column, after + 1, level)}}`;
    return typeof value === 'string' && value !== '' ? text(value, column, after, level) : whole;
  }

  #dict(dict: PlainDict, column: number, after: number, level: number): string {
    const start = column + this.#step;
    const keys = sortedKeys(dict);
    return this.#items(
      keys.map((key, at) => {
        const name = `${repr(key)}: `;
        const rest = at === keys.length - 1 ? after : 1;
        return name + this.#any(dict[key] ?? null, start + name.length, rest, level + 1);
      }),
      start,
    );
  }

  #list(items: readonly Plain[], column: number, after: number, level: number): string {
    const start = column + this.#step;
    return this.#items(
      items.map((item, at) =>
        this.#any(item, start, at === items.length - 1 ? after : 1, level + 1),
      ),
      start,
    );
  }

  #items(items: readonly string[], start: number): string {
    return ' '.repeat(Math.max(0, this.#step - 1)) + items.join(`,\n${' '.repeat(start)}`);
  }
}

/** A text too long for its line as several, broken where lines and words end. */
const text = (value: string, column: number, after: number, level: number): string => {
  const outermost = level === 1 ? 1 : 0;
  const start = column + outermost;
  const room = width - start;
  const lines =
    value.match(/[^\n\r\v\f]*(?:\r\n|[\n\r\v\f]|$)/g)?.filter(line => line !== '') ?? [];
  const chunks = lines.flatMap((part, at) => {
    const rest = at === lines.length - 1 ? after + outermost : 0;
    return repr(part).length <= room - rest ? [repr(part)] : words(part, room, rest);
  });
  const joined = chunks.join(`\n${' '.repeat(start)}`);
  return outermost && chunks.length > 1 ? `(${joined})` : joined;
};

const words = (whole: string, room: number, rest: number): string[] => {
  const parts = whole.match(/\S+\s*|\s+/g) ?? [];
  const chunks: string[] = [];
  let current = '';
  for (const [at, part] of parts.entries()) {
    const limit = at === parts.length - 1 ? room - rest : room;
    if (repr(current + part).length > limit) {
      if (current !== '') chunks.push(repr(current));
      current = part;
    } else current += part;
  }
  return current === '' ? chunks : [...chunks, repr(current)];
};
