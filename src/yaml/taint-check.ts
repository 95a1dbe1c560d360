import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml';
import type { Steps } from '../data/steps.ts';
import { firstBehind, isTouched, type Ranges, type TaintRange, touching } from '../data/taint.ts';
import { withoutEnd } from '../data/values/without-end.ts';
import { TsaltError } from '../protocol/error.ts';
import { type Construct, constructsOf, isBracket, isQuoted } from './constructs.ts';
import { type Parsed, parse } from './parse.ts';
import { YamlSource } from './yaml-error.ts';

/**
 * Refuses a text whose structure depends on host-supplied data. The events of the text are compared
 * with those of a copy in which harmless letters replace each tainted part: kinds and bounds must
 * be the same. A value that a serializer wrote may be one whole node instead.
 *
 * @param source without byte order mark
 * @param refuse is called with the tainted part that makes the difference
 * @returns the parsed text, if it had to be parsed
 */
export const checkTaint = function* (
  source: YamlSource,
  ranges: Ranges,
  refuse: (range: TaintRange) => never,
): Steps<Parsed | undefined> {
  const { text } = source;
  // Directives split words that are single words everywhere else.
  if (!/^%/m.test(text) && ranges.every(range => isPlain(text, range))) return undefined;
  const actual = attempt(source);
  yield;
  const harmless = attempt(new YamlSource(disarmed(text, ranges), {}));
  yield;
  if (actual.parsed && harmless.parsed)
    yield* new Comparison(text, [actual.parsed, harmless.parsed], ranges, refuse).compare();
  else if (actual.parsed || harmless.parsed)
    blame(ranges, Math.min(actual.brokenAt, harmless.brokenAt), refuse);
  return actual.parsed;
};

/**
 * Whether other letters in the range would produce the same tokens in any context: it contains only
 * words, and does not continue an indicator, escape, tag, anchor or block header.
 */
const isPlain = (text: string, { start, end }: TaintRange): boolean => {
  if (start >= end) return false;
  for (let at = start; at < end; at += 1)
    if (!isWordLetter(text, at) && !(at > start && isJoin(text, at) && isWordLetter(text, at + 1)))
      return false;
  if (!isWordLetter(text, end - 1)) return false;
  for (let at = start - 1; at >= 0; at -= 1) {
    const before = text.charAt(at);
    if (/\s/.test(before)) return true;
    if (start - at > longestWord || '&*!|>%@`\\'.includes(before)) return false;
  }
  return true;
};

const longestWord = 200;

const isWordLetter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
};

/** Between two letters, these characters are part of the word in every context. */
const isJoin = (text: string, at: number): boolean => ' ._-'.includes(text.charAt(at));

/** A text that cannot be parsed is identified by the position of its error. */
type Attempt = { readonly parsed?: Parsed; readonly brokenAt: number };

const attempt = (source: YamlSource): Attempt => {
  try {
    return { parsed: parse(source), brokenAt: source.text.length };
  } catch (error) {
    if (!(error instanceof TsaltError)) throw error;
    const { line = 1, column = 1 } = error.at ?? {};
    return { brokenAt: source.offset({ line, column }) };
  }
};

/** A letter of two units, which replaces another one without changing columns. */
const wideLetter = '\u{1d431}';

/** Replaces the tainted parts of the text by letters. */
export const disarmed = (text: string, ranges: Ranges): string => {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    const part = text.slice(start, end);
    result += text.slice(at, start);
    result += part.replace(/[\ud800-\udbff][\udc00-\udfff]|[\s\S]/g, unit =>
      unit.length === 2 ? wideLetter : 'x',
    );
    at = end;
  }
  return result + text.slice(at);
};

/** Events that are compared in one step. */
const stepSize = 2000;

class Comparison {
  readonly #ranges: Ranges;
  readonly #refuse: (range: TaintRange) => never;
  readonly #text: string;
  readonly #actual: Parsed;
  readonly #harmless: Parsed;
  /** The start of the last event that has an offset. */
  #last = 0;

  constructor(
    text: string,
    [actual, harmless]: readonly [Parsed, Parsed],
    ranges: Ranges,
    refuse: (range: TaintRange) => never,
  ) {
    this.#text = text;
    this.#actual = actual;
    this.#harmless = harmless;
    this.#ranges = ranges;
    this.#refuse = refuse;
  }

  *compare(): Steps<void> {
    const { events } = this.#actual;
    let at = 0;
    for (const [index, event] of this.#harmless.events.entries()) {
      if (index % stepSize === stepSize - 1) yield;
      const found = events[at];
      if (!found) return this.#differs(this.#last);
      const wanted = this.#placed(this.#harmless, event);
      const node = this.#nodeAt(event, wanted);
      const next = node ? this.#afterNode(at, node) : undefined;
      if (next !== undefined) {
        at = next;
        continue;
      }
      this.#compareOne(found, event, wanted);
      at += 1;
    }
    const more = events[at];
    if (more) this.#differs(this.#placed(this.#actual, more).start ?? this.#last);
  }

  #compareOne(found: Event, event: Event, wanted: Placed): void {
    const placed = this.#placed(this.#actual, found);
    if (placed.start !== undefined) this.#last = placed.start;
    this.#compareBound(placed.start, wanted.start);
    if (shapeOf(found) !== shapeOf(event)) this.#differs(this.#last);
    this.#compareBound(placed.end, wanted.end);
    for (const [index, [start, end]] of placed.names.entries()) {
      const [from, to] = wanted.names[index] ?? [];
      this.#compareBound(start, from);
      this.#compareBound(end, to);
      if (isTouched(this.#ranges, start - 1, end)) this.#differs(start);
    }
    const { start, end } = placed;
    if (start === undefined || end === undefined) return;
    if (found.type === EVENT_ID.SCALAR && found.style === SCALAR_STYLE.DOUBLE_QUOTED)
      this.#checkEscapes(start, end);
  }

  #compareBound(found: number | undefined, wanted: number | undefined): void {
    if (found === wanted) return;
    if (found === undefined || wanted === undefined || !this.#isSame(found, wanted))
      this.#differs(Math.min(found ?? this.#last, wanted ?? this.#last));
  }

  /** A host-supplied backslash must not change the meaning of the clean character after it. */
  #checkEscapes(start: number, end: number): void {
    for (const range of touching(this.#ranges, start, end)) {
      if (range.end >= end) continue;
      const part = this.#text.slice(Math.max(start, range.start), range.end);
      if ((part.length - withoutEnd(part, '\\').length) % 2 === 1) this.#refuse(range);
    }
  }

  /** Whether two offsets are equal, or separated only by tainted blanks and line ends. */
  #isSame(one: number, other: number): boolean {
    const [from, to] = one < other ? [one, other] : [other, one];
    for (let at = from; at < to; at += 1)
      if (!/\s/.test(this.#text.charAt(at)) || !isTouched(this.#ranges, at, at + 1)) return false;
    return true;
  }

  /** Returns the bounds of an event in the source; undefined for empty nodes. */
  #placed({ sourceOffset }: Parsed, event: Event): Placed {
    if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return { names: [] };
    const names: (readonly [number, number])[] = [];
    if (event.anchorEnd >= 0)
      names.push([sourceOffset(event.anchorStart), sourceOffset(event.anchorEnd)]);
    if (event.type === EVENT_ID.ALIAS) return { names, start: names[0]?.[0], end: names[0]?.[1] };
    if (event.tagEnd >= 0) names.push([sourceOffset(event.tagStart), sourceOffset(event.tagEnd)]);
    if (event.type !== EVENT_ID.SCALAR) return { names, start: sourceOffset(event.start) };
    if (event.valueStart < 0) return { names };
    const quotes = isQuoted(event.style) ? 1 : 0;
    return {
      names,
      start: sourceOffset(event.valueStart - quotes),
      end: sourceOffset(event.valueEnd + quotes),
    };
  }

  /** Returns the serialized value that one harmless word replaces as a whole. */
  #nodeAt(event: Event, { start, end }: Placed): TaintRange | undefined {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return undefined;
    if (start === undefined) return undefined;
    const range = this.#ranges[firstBehind(this.#ranges, start)];
    return range?.isNode === true && range.start === start && range.end === end ? range : undefined;
  }

  /** Returns the index of the event after a node that is inside the range, if any. */
  #afterNode(first: number, range: TaintRange): number | undefined {
    const { events, text } = this.#actual;
    const node = events[first];
    if (!node || !isWholeNode(text, node, events[first + 1])) return undefined;
    const { start = 0, end } = this.#placed(this.#actual, node);
    const nodeEnd = this.#endOf(start) ?? end ?? range.end;
    if (this.#text.slice(nodeEnd, range.end).trim() !== '') return undefined;
    const anchors = new Set<string>();
    let depth = 0;
    for (let at = first; at < events.length; at += 1) {
      const event = events[at];
      if (!event || event.type === EVENT_ID.DOCUMENT) return undefined;
      if (event.type === EVENT_ID.POP) depth -= 1;
      else if (!this.#isWithin(event, range)) return undefined;
      else if (event.type !== EVENT_ID.ALIAS && event.tagEnd >= 0) return undefined;
      else if (event.anchorEnd >= 0) {
        const name = text.slice(event.anchorStart, event.anchorEnd);
        if (event.type !== EVENT_ID.ALIAS) anchors.add(name);
        else if (!anchors.has(name)) return undefined;
      }
      if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) depth += 1;
      if (depth < 0) return undefined;
      if (depth === 0) return this.#isBehind(at + 1, range) ? at + 1 : undefined;
    }
    return undefined;
  }

  #isWithin(event: Event, range: TaintRange): boolean {
    const { start, end, names } = this.#placed(this.#actual, event);
    const isIn = (at: number | undefined) =>
      at === undefined || (at >= range.start && at <= range.end);
    if (!isIn(start) || !isIn(end) || !names.flat().every(isIn)) return false;
    return start === undefined || isIn(this.#endOf(start));
  }

  /** Returns the end of a quoted string or flow collection. */
  #endOf(start: number): number | undefined {
    this.#ends ??= constructsOf(this.#actual).continued;
    return this.#ends.get(start)?.end;
  }

  #ends: ReadonlyMap<number, Construct> | undefined;

  /** Whether the next node begins after the range. */
  #isBehind(first: number, range: TaintRange): boolean {
    const { events } = this.#actual;
    for (let at = first; at < events.length; at += 1) {
      const event = events[at];
      const { start, names } = event ? this.#placed(this.#actual, event) : { names: [] };
      const begin = Math.min(start ?? Number.POSITIVE_INFINITY, ...names.map(([from]) => from));
      if (begin !== Number.POSITIVE_INFINITY) return begin >= range.end;
    }
    return true;
  }

  /**
   * Throws an error that names the responsible tainted part: the last one that begins before the
   * difference.
   */
  #differs(offset: number): never {
    return blame(this.#ranges, offset, this.#refuse);
  }
}

/** Excludes empty nodes, and pairs without braces between brackets. */
const isWholeNode = (text: string, event: Event, next: Event | undefined): boolean => {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart >= 0;
  if (event.type !== EVENT_ID.MAPPING || event.style !== COLLECTION_STYLE.FLOW) return true;
  return isBracket(text, event, next);
};

type Placed = {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The bounds of anchors, tags and aliases. */
  readonly names: readonly (readonly [number, number])[];
};

const shapeOf = (event: Event): string => {
  if (event.type === EVENT_ID.DOCUMENT) return JSON.stringify(event);
  const style = 'style' in event ? event.style : 0;
  const chomping = 'chomping' in event ? event.chomping : 0;
  const names =
    'anchorEnd' in event ? [event.anchorEnd >= 0, 'tagEnd' in event && event.tagEnd >= 0] : [];
  return [event.type, style, chomping, ...names].join();
};

const blame = (ranges: Ranges, offset: number, refuse: (range: TaintRange) => never): never =>
  refuse(ranges[Math.max(0, firstAfter(ranges, offset) - 1)] ?? ranges[0]);

/** Returns the index of the first range that begins after an offset. */
const firstAfter = (ranges: Ranges, offset: number): number => {
  const index = ranges.findIndex(({ start }) => start > offset);
  return index < 0 ? ranges.length : index;
};
