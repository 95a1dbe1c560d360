import {
  COLLECTION_STYLE,
  type DocumentEvent,
  EVENT_ID,
  getScalarValue,
  type Event as JsYamlEvent,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { isQuoted } from './constructs.ts';
import type { Parsed } from './parse.ts';
import { flowNodeError } from './syntax-error.ts';
import { resolveTag } from './tags.ts';
import type { YamlSource } from './yaml-error.ts';

export type NodeEvent = {
  readonly kind: 'scalar' | 'sequence' | 'mapping';
  readonly at: number;
  readonly anchor: string | undefined;
  /** The resolved tag; `undefined` if there is none, or only `!`. */
  readonly tag: string | undefined;
  readonly value: string;
  /** Its type depends on its text: it has neither tag nor quotes, or the tag `!`. */
  readonly plain: boolean;
  /** The offset of a scalar's text, quotes included. */
  readonly from: number;
  readonly to: number;
};

export type Event =
  | NodeEvent
  | { readonly kind: 'alias'; readonly at: number; readonly anchor: string }
  | {
      readonly kind: 'end' | 'document-start' | 'document-end' | 'stream-end';
      readonly at: number;
    };

type Properties = {
  readonly anchorStart: number;
  readonly anchorEnd: number;
  readonly tagStart: number;
  readonly tagEnd: number;
};

/**
 * Converts the events of js-yaml to nodes with resolved tags, decoded values and offsets in the
 * source. Computes the offsets that js-yaml does not report: those of empty nodes and of the
 * headers of block scalars.
 */
export class EventReader {
  readonly #source: YamlSource;
  readonly #text: string;
  readonly #events: readonly JsYamlEvent[];
  readonly #sourceOffset: (offset: number) => number;
  readonly #open: ('document' | 'block' | 'flow')[] = [];
  #document: DocumentEvent | undefined;
  #next = 0;
  /** The end of the parsed text, as far as js-yaml reports it. */
  #at = 0;

  constructor(source: YamlSource, { text, events, sourceOffset }: Omit<Parsed, 'isNew'>) {
    this.#source = source;
    this.#text = text;
    this.#events = events;
    this.#sourceOffset = sourceOffset;
  }

  next(): Event {
    const event = this.#events[this.#next];
    if (!event) return { kind: 'stream-end', at: this.#here() };
    this.#next += 1;
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        return this.#begin(event);
      case EVENT_ID.POP: {
        const kind = this.#open.pop() === 'document' ? 'document-end' : 'end';
        return { kind, at: this.#here() };
      }
      case EVENT_ID.ALIAS: {
        this.#at = event.anchorEnd;
        const anchor = this.#name(event.anchorStart, event.anchorEnd);
        return { kind: 'alias', at: this.#sourceOffset(event.anchorStart - 1), anchor };
      }
      case EVENT_ID.SCALAR:
        return this.#scalar(event);
      default: {
        this.#open.push(event.style === COLLECTION_STYLE.FLOW ? 'flow' : 'block');
        const at = this.#sourceOffset(startOf(event, event.start));
        const first = this.#text.charCodeAt(event.start);
        this.#at = first === openBracket || first === openBrace ? event.start + 1 : event.start;
        const hasProperties = event.anchorEnd >= 0 || event.tagEnd >= 0;
        const { anchor, tag } = hasProperties ? this.#properties(event, at) : noProperties;
        const kind = event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping';
        return { kind, at, anchor, tag, value: '', plain: false, from: at, to: at };
      }
    }
  }

  #here(): number {
    return this.#sourceOffset(this.#at);
  }

  #begin(event: DocumentEvent): Event {
    this.#open.push('document');
    this.#document = event;
    let at = this.#at;
    if (event.explicitStart) {
      marker.lastIndex = this.#at;
      const found = marker.exec(this.#text);
      if (found) {
        at = found.index;
        this.#at = marker.lastIndex;
      }
    } else {
      const next = this.#events[this.#next];
      if (next && next.type !== EVENT_ID.POP && next.type !== EVENT_ID.DOCUMENT) {
        const content = startOf(next, 'start' in next ? next.start : contentOf(next));
        if (content >= 0) at = content;
      }
    }
    return { kind: 'document-start', at: this.#sourceOffset(at) };
  }

  #scalar(event: ScalarEvent): Event {
    const { style, valueStart, valueEnd } = event;
    const hasText = valueStart >= 0;
    if (hasText && style === SCALAR_STYLE.PLAIN && event.anchorEnd < 0 && event.tagEnd < 0) {
      const from = this.#sourceOffset(valueStart);
      const value = this.#value(event, from);
      this.#at = valueEnd;
      const to = this.#sourceOffset(valueEnd);
      return {
        kind: 'scalar',
        at: from,
        anchor: undefined,
        tag: undefined,
        value,
        plain: true,
        from,
        to,
      };
    }
    this.#at = Math.max(this.#at, event.anchorEnd, event.tagEnd);
    const [from, to] = hasText ? this.#bounds(event) : this.#empty(event);
    const begin = this.#sourceOffset(from);
    const value = hasText ? this.#value(event, begin) : '';
    this.#at = to;
    const end = this.#sourceOffset(to);
    if (event.anchorEnd < 0 && event.tagEnd < 0) {
      const plain = style === SCALAR_STYLE.PLAIN;
      return {
        kind: 'scalar',
        at: begin,
        anchor: undefined,
        tag: undefined,
        value,
        plain,
        from: begin,
        to: end,
      };
    }
    const at = this.#sourceOffset(startOf(event, from));
    const { anchor, tag, isUnspecific } = this.#properties(event, at);
    const plain = isUnspecific ? hasText : tag === undefined && style === SCALAR_STYLE.PLAIN;
    return { kind: 'scalar', at, anchor, tag, value, plain, from: begin, to: end };
  }

  /** Returns the bounds of a scalar, including quotes or the header of a block. */
  #bounds(event: ScalarEvent): readonly [number, number] {
    const { style, valueStart, valueEnd } = event;
    if (style === SCALAR_STYLE.PLAIN) return [valueStart, valueEnd];
    if (isQuoted(style)) return [valueStart - 1, valueEnd + 1];
    return [this.#header(event), valueEnd];
  }

  /**
   * Returns the offset of the `|` or `>` of a block scalar, whose line ends where the text begins.
   */
  #header({ style, valueStart }: ScalarEvent): number {
    let line = valueStart;
    if (this.#text[line - 1] === '\n') line -= 1;
    if (this.#text[line - 1] === '\r') line -= 1;
    while (line > this.#at && !/[\r\n]/.test(this.#text.charAt(line - 1))) line -= 1;
    const found = this.#text.indexOf(style === SCALAR_STYLE.LITERAL_BLOCK ? '|' : '>', line);
    return found < 0 || found > valueStart ? valueStart : found;
  }

  /** Returns the bounds of an empty node, which is after its indicator. */
  #empty(event: Properties): readonly [number, number] {
    const hasProperties = event.anchorEnd >= 0 || event.tagEnd >= 0;
    const at = hasProperties ? this.#at : behindIndicator(this.#text, this.#at);
    return [at, at];
  }

  #value(event: ScalarEvent, begin: number): string {
    const { style, valueStart, valueEnd } = event;
    if (style === SCALAR_STYLE.PLAIN) this.#refuseQuestion(event, begin);
    if (event.fast) return this.#text.slice(valueStart, valueEnd);
    const value = decodeScalar(this.#text, event);
    if (style === SCALAR_STYLE.DOUBLE_QUOTED) {
      const written = this.#text.slice(valueStart, valueEnd);
      if (beyondUnicode.test(written) || /[\ud800-\udfff]/u.test(value))
        throw this.#source.fault(
          'yaml-syntax',
          'found invalid Unicode character escape code',
          begin,
        );
    }
    return value;
  }

  /** Refuses `?b` between brackets, as libyaml does. */
  #refuseQuestion({ valueStart }: ScalarEvent, begin: number): void {
    if (this.#text.charCodeAt(valueStart) !== 0x3f) return;
    if (this.#open.at(-1) === 'flow') throw flowNodeError(this.#source, begin);
  }

  #properties(
    event: Properties,
    at: number,
  ): { anchor?: string | undefined; tag?: string | undefined; isUnspecific: boolean } {
    const anchor = event.anchorEnd < 0 ? undefined : this.#name(event.anchorStart, event.anchorEnd);
    if (event.tagEnd < 0) return { anchor, tag: undefined, isUnspecific: false };
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    const tag = resolveTag(this.#source, written, this.#document?.directives ?? [], at);
    return { anchor, tag: tag === '!' ? undefined : tag, isUnspecific: tag === '!' };
  }

  /**
   * Returns the name of an anchor or alias. In YAML 1.1 it consists of letters, digits, `_` and
   * `-`.
   */
  #name(start: number, end: number): string {
    const name = this.#text.slice(start, end);
    const bad = /[^\w-]/.exec(name);
    if (bad)
      throw this.#source.fault(
        'yaml-syntax',
        'did not find expected alphabetic or numeric character',
        this.#sourceOffset(start + bad.index),
      );
    return name;
  }
}

/** Returns the value of a scalar that is not written as it is. */
export const decodeScalar = (text: string, event: ScalarEvent): string => {
  const { style, valueEnd } = event;
  const value = getScalarValue(text, event);
  if (style !== SCALAR_STYLE.LITERAL_BLOCK && style !== SCALAR_STYLE.FOLDED_BLOCK) return value;
  // As PyYAML: the last line has a line end only where the file has one.
  const last = text[valueEnd - 1];
  const isEnded = last === '\n' || last === '\r' || valueEnd < text.length;
  return !isEnded && value.endsWith('\n') ? value.slice(0, -1) : value;
};

const noProperties = { anchor: undefined, tag: undefined };

const openBracket = 0x5b;
const openBrace = 0x7b;

const beyondUnicode = /(?<!\\)(?:\\\\)*\\U(?!000|0010)/;

const marker = /^---(?=\s|$)/gm;

const contentOf = (event: { anchorStart: number } | ScalarEvent): number =>
  'valueStart' in event ? event.valueStart : event.anchorStart - 1;

/** Returns the start of a node, including its anchor or tag. */
const startOf = (event: Partial<Properties>, content: number): number => {
  const { anchorStart = -1, tagStart = -1 } = event;
  let start = content;
  if (anchorStart >= 0) start = Math.min(start < 0 ? anchorStart : start, anchorStart - 1);
  if (tagStart >= 0) start = Math.min(start < 0 ? tagStart : start, tagStart);
  return start;
};

/** Returns the offset after the next `-?:`, or of the next character that ends an empty node. */
const behindIndicator = (text: string, from: number): number => {
  let at = from;
  for (; at < text.length; at += 1) {
    const unit = text.charAt(at);
    if (unit === '#') while (at + 1 < text.length && !/[\r\n]/.test(text.charAt(at + 1))) at += 1;
    else if (unit === '-' || unit === '?' || unit === ':') return at + 1;
    else if (!/[\s\]},]/.test(unit)) return at;
  }
  return at;
};
