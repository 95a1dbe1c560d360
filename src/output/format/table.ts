import type { HostResult } from '../../protocol/event.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { type Palette, palette } from '../color.ts';
import type { Format } from '../format.ts';
import { dataByHost, stateResults } from '../result.ts';
import { compareText, harmless, showValue, sortedKeys } from '../text.ts';

const columnWidth = 50;

/** A host may send rows of which each has keys of its own: a table of them has the square of their number. */
const mostCells = 1_000_000;

/** Lists of dictionaries as tables, wherever they are in the data (spec: salt.output.table_out). */
export const tableFormat: Format = {
  format: (results, { color }) => tables(dataByHost(results), 0, palette(color)).join('\n'),
};

/** How long each state took, shortest first (spec: salt.output.profile). */
export const profileFormat: Format = {
  format: (results, { color }) => {
    const rows = results.flatMap(durations).sort(shorterFirst);
    if (rows.length === 0) return '';
    const times = rows.map(({ duration }) => duration.toFixed(4));
    const width = Math.max('duration (ms)'.length, ...times.map(time => time.length));
    const cells = rows.map(({ name, fun }, at) => [name, fun, (times[at] ?? '').padStart(width)]);
    return table(cells, ['name', 'mod.fun', 'duration (ms)'], 4, palette(color)).join('\n');
  },
};

type Duration = { readonly name: string; readonly fun: string; readonly duration: number };

const shorterFirst = (left: Duration, right: Duration): number =>
  left.duration - right.duration ||
  compareText(left.name, right.name) ||
  compareText(left.fun, right.fun);

const durations = (result: HostResult): Duration[] =>
  Object.entries(stateResults(result) ?? {}).map(([tag, state]) => {
    const comps = tag.split('_|-');
    const name = showValue(state.name ?? state.__id__);
    return {
      name: name.length > 60 ? `${name.slice(0, 57)}...` : name,
      fun: `${comps[0]}.${comps.at(-1)}`,
      duration: Number(state.duration ?? -1),
    };
  });

const tables = (value: Plain, indent: number, colors: Palette): string[] => {
  if (Array.isArray(value)) return tableOf(value, indent, colors);
  if (!isPlainDict(value))
    return value === null ? [] : [`${' '.repeat(indent)}${harmless(showValue(value))}`];
  return sortedKeys(value).flatMap(key => {
    const item = value[key] ?? null;
    const margin = ' '.repeat(indent);
    const head = [
      `${margin}${colors.DARK_GRAY}${harmless(key)}${colors.ENDC}:`,
      `${margin}${colors.DARK_GRAY}----------${colors.ENDC}`,
    ];
    return [
      ...head,
      ...(Array.isArray(item) ? tableOf(item, indent, colors) : tables(item, indent + 4, colors)),
    ];
  });
};

const tableOf = (list: readonly Plain[], indent: number, colors: Palette): string[] => {
  if (list.length === 0) return [];
  if (list.every(isPlainDict)) {
    const rows = list as readonly PlainDict[];
    const keys = [...new Set(rows.flatMap(row => sortedKeys(row)))];
    if (rows.length * keys.length > mostCells) return plainTable(rows, indent, colors);
    return table(
      rows.map(row => keys.map(key => (Object.hasOwn(row, key) ? showValue(row[key]) : ''))),
      keys.map(title),
      indent + 4,
      colors,
    );
  }
  if (list.every(row => Array.isArray(row)))
    return table(
      list.map(row => row.map(showValue)),
      undefined,
      indent + 4,
      colors,
    );
  return plainTable(list, indent, colors);
};

/** One column: each row as Python writes it. */
const plainTable = (list: readonly Plain[], indent: number, colors: Palette): string[] =>
  table(
    list.map(row => [showValue(row)]),
    undefined,
    indent + 4,
    colors,
  );

const title = (key: string): string =>
  key.replaceAll('_', ' ').replace(/\b\p{L}/gu, letter => letter.toUpperCase());

const table = (
  rows: readonly (readonly string[])[],
  labels: readonly string[] | undefined,
  indent: number,
  colors: Palette,
): string[] => {
  const all = (labels ? [labels, ...rows] : rows).map(row => wrapRow(row.map(harmless)));
  const widths: number[] = [];
  for (const line of all.flat())
    for (const [at, cell] of line.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  const total = widths.reduce((sum, width) => sum + width, 0);
  const margin = ' '.repeat(indent);
  const dashes = '-'.repeat(total + 4 + 3 * (widths.length - 1));
  const rule = `${margin}${colors.LIGHT_GRAY}${dashes}${colors.ENDC}`;
  const text = (cells: readonly string[]): string => {
    const padded = widths.map((width, at) => center(cells[at] ?? '', width));
    return `${margin}${colors.WHITE}| ${padded.join(' | ')} |${colors.ENDC}`;
  };
  return [rule, ...all.flatMap(lines => [...lines.map(text), rule])];
};

/** One row as the physical lines it needs when cells are broken at the column width. */
const wrapRow = (row: readonly string[]): string[][] => {
  const cells = row.map(wrapCell);
  const height = cells.reduce((most, lines) => Math.max(most, lines.length), 1);
  return Array.from({ length: height }, (_, at) => cells.map(lines => lines[at] ?? ''));
};

const wrapCell = (text: string): string[] => {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    if (line === undefined) line = word;
    else if (line.length + word.length >= columnWidth) {
      lines.push(line);
      line = word;
    } else line = `${line} ${word}`;
  }
  return [...lines, line ?? ''].flatMap(part => part.split('\n'));
};

/** Python's `str.center`. */
const center = (text: string, width: number): string => {
  const room = Math.max(0, width - text.length);
  const left = Math.floor(room / 2) + (room & width & 1);
  return `${' '.repeat(left)}${text}${' '.repeat(room - left)}`;
};
