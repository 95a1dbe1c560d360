import { rangesOf, type TaintRange, touching, wholeRange } from '../../../data/taint.ts';
import { showLocation } from '../../../protocol/error.ts';
import { type FindRanges, ofSerialized, ofSplit, Pieces } from '../../taint/align.ts';
import { onlySelects } from '../../taint/only-selects.ts';
import { someString } from '../../taint/some-string.ts';
import type { TaintSource } from '../../taint/taint-table.ts';
import { joined, transfers } from '../../taint/transfers.ts';
import type { TemplatePosition } from '../jinja-error.ts';
import { itemsIn } from '../values/iterate.ts';
import { printed, textOf } from '../values/text.ts';
import { Iterator } from '../values/things.ts';
import { type Args, Callable, isMap, type OnPiece, Thing, type Value } from '../values/value.ts';

/**
 * Filters whose results contain only parts of their input, or results of other filters, which are
 * tracked themselves.
 */
const passing = new Set([
  'map',
  'select',
  'reject',
  'selectattr',
  'rejectattr',
  'load_yaml',
  'load_json',
  'load_text',
  'format',
  'format_map',
]);

/**
 * Tracks host-supplied data through one rendering. Every filter, method, call and operator reports
 * its input and result: a new string made from tainted ones is tainted, precisely if there is a
 * transfer, otherwise as a whole. Only data flow counts: a value that a template selects by a
 * tainted key or condition keeps its own taint.
 */
export class Tracking {
  readonly table: TaintSource;
  readonly look: FindRanges;

  constructor(table: TaintSource) {
    this.table = table;
    this.look = text => table.of(text);
  }

  /** Captures the inputs before a filter or method runs: iterators can be read only once. */
  before(value: Value): unknown {
    return value instanceof Iterator ? value.holds() : value;
  }

  /** Tracks the result of a filter or method. */
  made(name: string, value: unknown, { list, named }: Args, result: Value): void {
    if (result === value || !canHoldText(result) || passing.has(name)) return;
    const inputs = [value, list, named];
    const source = this.#sourceIn(inputs);
    if (source === undefined) return;
    if (typeof result === 'string') {
      const work = { value, args: list, result, look: this.look };
      const argsAreClean = named.size === 0;
      const exact =
        name === 'join'
          ? this.#joined(work, named)
          : argsAreClean
            ? transfers.get(name)?.(work)
            : namedTransfer(name, work, named);
      if (exact) {
        this.#learn(result, exact);
        return;
      }
    } else if (Array.isArray(result) && typeof value === 'string') {
      const split = ofSplit(value, list[0], result, this.look);
      if (split) {
        for (const [part, ranges] of split) if (ranges) this.#learn(part, ranges);
        return;
      }
    }
    this.#taintNew(inputs, result, source);
  }

  #joined(
    work: { value: unknown; args: readonly Value[]; result: string; look: FindRanges },
    named: Args['named'],
  ): readonly TaintRange[] | undefined {
    const { value, args } = work;
    if (named.has('attribute') || args.length > 1) return undefined;
    // Python's method has its separator first, Jinja's filter last.
    const isMethod = typeof value === 'string' && args.length === 1 && typeof args[0] !== 'string';
    if (isMethod) return joined(itemsIn(args[0] as Value), value, work);
    const separator = args[0] ?? named.get('d') ?? '';
    return joined(itemsIn(value as Value), separator, work);
  }

  /** Tracks the result of a format; `write` runs again to find the positions of its values. */
  formatted(inputs: readonly unknown[], result: Value, write: (piece: OnPiece) => string): void {
    if (typeof result !== 'string') return;
    const source = this.#sourceIn(inputs);
    if (source === undefined) return;
    const [format] = inputs;
    const ranges: TaintRange[] = [];
    const again = write((start, text, value) => {
      for (const range of this.#within(text, value))
        ranges.push({ ...range, start: range.start + start, end: range.end + start });
    });
    const isExact =
      again === result &&
      typeof format === 'string' &&
      !this.look(format) &&
      // A nested field may set the width to which its value is padded.
      !/\{[^{}]*\{/.test(format);
    this.#learn(result, isExact ? ranges : wholeRange(result, source));
  }

  /** Returns the tainted parts of a text that was made from one value. */
  #within(text: string, value: Value): readonly TaintRange[] {
    if (value === text) return this.look(text) ?? [];
    const source = this.#sourceIn(value);
    return source === undefined ? [] : wholeRange(text, source);
  }

  /** Tracks a concatenation. */
  concatenated(parts: readonly Value[], result: Value): void {
    if (typeof result !== 'string' || parts.every(part => !canHoldText(part))) return;
    const pieces = new Pieces();
    for (const part of parts) {
      const text = textOf(part);
      pieces.add(text, typeof part === 'string' ? this.look(text) : this.shown(text, part));
    }
    if (pieces.ranges.length > 0)
      this.#learn(result, pieces.of(result) ?? wholeRange(result, pieces.ranges[0]?.source ?? ''));
  }

  /** Tracks a part of a text, `value[start:stop]` or `value[index]`. */
  taken(value: Value, result: Value, start: Value): void {
    if (typeof value !== 'string' || typeof result !== 'string') return;
    const ranges = this.look(value);
    if (!ranges) return;
    const from = typeof start === 'number' ? (start < 0 ? start + value.length : start) : 0;
    const isThere = value.startsWith(result, Math.max(0, from)) && /^[\0-\ud7ff]*$/.test(value);
    const exact = isThere
      ? ranges
          .filter(({ start: a, end: b }) => a < from + result.length && b > from)
          .map(range => ({
            ...range,
            start: Math.max(0, range.start - from),
            end: Math.min(result.length, range.end - from),
            isNode: false,
          }))
      : wholeRange(result, ranges[0].source);
    this.#learn(result, exact);
  }

  /** Tracks the characters of a text that is iterated. */
  spread(value: Value, items: readonly Value[]): void {
    if (typeof value !== 'string') return;
    const ranges = this.look(value);
    if (!ranges) return;
    let at = 0;
    for (const item of items) {
      const text = String(item);
      const range = touching(ranges, at, at + text.length)[0];
      if (range) this.#learn(text, wholeRange(text, range.source));
      at += text.length;
    }
  }

  /** Returns the tainted parts in the text of a printed value. */
  shown(text: string, value: Value): readonly TaintRange[] | undefined {
    if (typeof value === 'string') return this.look(text);
    return canHoldText(value) || value instanceof Thing
      ? ofSerialized(value, text, this.look)
      : undefined;
  }

  /** Returns the tainted parts of `{{ value }}`, with the position for messages. */
  print(value: Value, spot: TemplatePosition | undefined): readonly TaintRange[] | undefined {
    if (typeof value !== 'string' && !canHoldText(value) && !(value instanceof Thing))
      return undefined;
    const ranges = this.shown(printed(value), value);
    if (!ranges || ranges.length === 0) return undefined;
    const place = spot && placeOf(spot);
    return ranges.map(range => (range.place === undefined ? { ...range, place } : range));
  }

  /** Tracks the result of a call to a function that may make strings from its arguments. */
  called(fun: string, args: Args, result: unknown): void {
    if (onlySelects(fun)) return;
    const inputs = [args.list, args.named];
    const source = this.#sourceIn(inputs);
    if (source !== undefined) this.#taintNew(inputs, result, source);
  }

  /** Tracks a text that was printed into a variable. */
  captured(text: string, ranges: readonly TaintRange[]): void {
    this.#learn(text, ranges);
  }

  #learn(text: string, list: readonly TaintRange[]): void {
    const ranges = rangesOf(list);
    if (ranges) this.table.learn(text, ranges);
  }

  /** Taints every string of a result that is not one of the inputs. */
  #taintNew(inputs: unknown, result: unknown, source: string): void {
    const known = new Set<string>();
    someString(inputs, text => {
      known.add(text);
      return false;
    });
    someString(result, text => {
      if (!known.has(text) && text !== '') this.table.learn(text, wholeRange(text, source));
      return false;
    });
  }

  /** Returns the host-supplied string that the first tainted string of a value came from. */
  #sourceIn(value: unknown): string | undefined {
    let source: string | undefined;
    const isTainted = someString(value, text => {
      source = this.look(text)?.[0].source;
      return source !== undefined;
    });
    return isTainted ? (source ?? 'data') : undefined;
  }
}

/**
 * `indent(width=4)` and similar calls: the value's characters keep their order with any options.
 */
const namedTransfer = (
  name: string,
  work: { value: unknown; args: readonly Value[]; result: string; look: FindRanges },
  named: Args['named'],
): readonly TaintRange[] | undefined => {
  const isReplace = name === 'replace';
  const args = isReplace
    ? [
        work.args[0] ?? named.get('old'),
        work.args[1] ?? named.get('new'),
        work.args[2] ?? named.get('count') ?? -1,
      ]
    : work.args;
  return transfers.get(name)?.({ ...work, args });
};

const canHoldText = (value: unknown): boolean =>
  typeof value === 'string' ||
  Array.isArray(value) ||
  isMap(value as Value) ||
  (value instanceof Thing && !(value instanceof Callable));

/** The file, line and column of a print statement. */
const placeOf = (spot: TemplatePosition): string => {
  const known = places.get(spot);
  if (known !== undefined) return known;
  const { source, line, column } = spot;
  const place = showLocation({
    file: source.file,
    line,
    ...(column === undefined ? {} : { column }),
  });
  places.set(spot, place);
  return place;
};

const places = new WeakMap<TemplatePosition, string>();
