import {
  type ChompingMode,
  type CollectionStyle,
  EVENT_ID,
  type Event,
  type ScalarStyle,
} from 'js-yaml';
import jsYaml from 'js-yaml/package.json' with { type: 'json' };

/** Numbers of an event: its type, and up to ten more. */
const width = 11;

/** Another js-yaml may read a text differently. */
export const parserVersion = jsYaml.version;

/** Changes when the meaning of the numbers does. */
export const eventFormat = `events ${width}`;

/** Writes events as numbers. Returns undefined for a document with directives, which have names. */
export const packEvents = (events: readonly Event[]): Int32Array<ArrayBuffer> | undefined => {
  const packed = new Int32Array(events.length * width);
  let at = 0;
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT && event.directives.length > 0) return undefined;
    packed[at] = event.type;
    packed.set(numbersOf(event), at + 1);
    at += width;
  }
  return packed;
};

/** Returns the offsets of an event first; the rest begins at the eighth number. */
const numbersOf = (event: Event): readonly number[] => {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      return [0, 0, 0, 0, 0, 0, Number(event.explicitStart), Number(event.explicitEnd)];
    case EVENT_ID.POP:
      return [];
    case EVENT_ID.ALIAS:
      return [event.anchorStart, event.anchorEnd];
    case EVENT_ID.SCALAR: {
      const { anchorStart, anchorEnd, tagStart, tagEnd, valueStart, valueEnd } = event;
      const places = [anchorStart, anchorEnd, tagStart, tagEnd, valueStart, valueEnd];
      return [...places, event.style, event.chomping, event.indent, Number(event.fast)];
    }
    default: {
      const { anchorStart, anchorEnd, tagStart, tagEnd, start } = event;
      return [anchorStart, anchorEnd, tagStart, tagEnd, start, 0, event.style];
    }
  }
};

/**
 * Reads what `packEvents` wrote. Returns undefined for anything else, such as a file of which a crash
 * left a part.
 *
 * @param length - of the text, within which all places must be
 */
export const unpackEvents = (packed: Int32Array, length: number): Event[] | undefined => {
  const count = packed.length / width;
  if (!Number.isInteger(count) || count === 0) return undefined;
  const events = new Array<Event>(count);
  for (let index = 0; index < count; index += 1) {
    const event = eventAt(packed, index * width, length);
    if (!event) return undefined;
    events[index] = event;
  }
  return events;
};

const eventAt = (packed: Int32Array, at: number, length: number): Event | undefined => {
  const number = (field: number): number => packed[at + field] as number;
  for (let field = 1; field <= 6; field += 1)
    if (number(field) < -1 || number(field) > length) return undefined;
  const type = number(0);
  if (type === EVENT_ID.POP) return { type };
  if (type === EVENT_ID.DOCUMENT)
    return {
      type,
      explicitStart: number(7) === 1,
      explicitEnd: number(8) === 1,
      directives: [],
    };
  const anchor = { anchorStart: number(1), anchorEnd: number(2) };
  if (type === EVENT_ID.ALIAS) return { type, ...anchor };
  const tag = { tagStart: number(3), tagEnd: number(4) };
  if (type === EVENT_ID.SCALAR)
    return {
      type,
      valueStart: number(5),
      valueEnd: number(6),
      ...anchor,
      ...tag,
      style: number(7) as ScalarStyle,
      chomping: number(8) as ChompingMode,
      indent: number(9),
      fast: number(10) === 1,
    };
  if (type !== EVENT_ID.SEQUENCE && type !== EVENT_ID.MAPPING) return undefined;
  return { type, start: number(5), ...anchor, ...tag, style: number(7) as CollectionStyle };
};
