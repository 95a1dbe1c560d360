import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml';
import type { Parsed } from './parse.ts';

export type Construct = { readonly start: number; readonly end: number };

export type Constructs = {
  /** Quoted strings and flow collections, by their start. */
  readonly continued: ReadonlyMap<number, Construct>;
  /** The ends of anchor and alias names. */
  readonly names: ReadonlySet<number>;
  /** Scalars in order, without quotes. */
  readonly scalars: readonly Construct[];
};

/**
 * Finds where quoted strings and flow collections begin and end in the source. js-yaml does not
 * report the ends of collections.
 */
export const constructsOf = ({ text, events, sourceOffset }: Parsed): Constructs => {
  const continued = new Map<number, Construct>();
  const names = new Set<number>();
  const scalars: Construct[] = [];
  const open: (number | undefined)[] = [];
  let at = 0;
  const add = (first: number, last: number): void => {
    const [start, end] = [sourceOffset(first), sourceOffset(last)];
    continued.set(start, { start, end });
    at = last;
  };
  for (const [index, event] of events.entries()) {
    if (event.type === EVENT_ID.POP) {
      const start = open.pop();
      if (start !== undefined) add(start, flowEnd(text, at));
    } else if (event.type === EVENT_ID.DOCUMENT) open.push(undefined);
    else {
      if (event.anchorEnd >= 0) names.add(sourceOffset(event.anchorEnd));
      at = Math.max(at, event.anchorEnd);
      if (event.type === EVENT_ID.ALIAS) continue;
      at = Math.max(at, event.tagEnd);
      if (event.type === EVENT_ID.SCALAR) {
        scalars.push({
          start: sourceOffset(event.valueStart),
          end: sourceOffset(event.valueEnd),
        });
        if (isQuoted(event.style)) add(event.valueStart - 1, event.valueEnd + 1);
        else at = Math.max(at, event.valueEnd);
      } else {
        open.push(isBracket(text, event, events[index + 1]) ? event.start : undefined);
        at = event.start + (open.at(-1) === undefined ? 0 : 1);
      }
    }
  }
  return { continued, names, scalars };
};

export const isQuoted = (style: number): boolean =>
  style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;

/** Whether a collection has brackets: `a: 1` in `[a: 1]` is a flow mapping without any. */
export const isBracket = (text: string, event: Event, next: Event | undefined): boolean => {
  if (event.type === EVENT_ID.SEQUENCE) return event.style === COLLECTION_STYLE.FLOW;
  if (event.type !== EVENT_ID.MAPPING || event.style !== COLLECTION_STYLE.FLOW) return false;
  const isKey = next?.type === EVENT_ID.MAPPING && next.start === event.start;
  return text[event.start] === '{' && !isKey;
};

/** Returns the end of the next closing bracket, if only indicators and comments precede it. */
const flowEnd = (text: string, from: number): number => {
  let at = from;
  for (; at < text.length && text[at] !== ']' && text[at] !== '}'; at += 1)
    if (text[at] === '#') while (at < text.length && !/[\r\n]/.test(text.charAt(at))) at += 1;
  return Math.min(at + 1, text.length);
};
