import { COLLECTION_STYLE, EVENT_ID, type Event, parseEvents } from 'js-yaml';
import { maxDepth } from './node.ts';

/** A block collection that a line could continue. */
export type OpenBlock = { readonly kind: 'mapping' | 'sequence'; readonly start: number };

/**
 * Finds the innermost block collection before an offset of a text whose indentation does not exceed
 * that of the offset. `undefined` if the text before it cannot be parsed.
 */
export const openBlockAt = (text: string, offset: number): OpenBlock | undefined => {
  const column = columnOf(text, offset);
  return openBlocks(text.slice(0, offset)).findLast(({ start }) => columnOf(text, start) <= column);
};

/** Returns the block collections around the end of a text, the outermost first. */
const openBlocks = (text: string): readonly OpenBlock[] => {
  const events = eventsOf(text);
  const closed: (OpenBlock | undefined)[] = [];
  let pending = 0;
  while (events.at(-1 - pending)?.type === EVENT_ID.POP) pending += 1;
  let depth = 0;
  for (let index = events.length - 1 - pending; index >= 0 && closed.length < pending; index -= 1) {
    const event = events[index];
    if (event?.type === EVENT_ID.POP) depth += 1;
    else if (event && event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) {
      if (depth > 0) depth -= 1;
      else closed.push(blockOf(event));
    }
  }
  return closed.reverse().filter(block => block !== undefined);
};

const eventsOf = (text: string): readonly Event[] => {
  try {
    return parseEvents(text, { maxDepth });
  } catch {
    return [];
  }
};

const blockOf = (event: Event): OpenBlock | undefined => {
  if (event.type !== EVENT_ID.SEQUENCE && event.type !== EVENT_ID.MAPPING) return undefined;
  if (event.style !== COLLECTION_STYLE.BLOCK) return undefined;
  return {
    kind: event.type === EVENT_ID.SEQUENCE ? 'sequence' : 'mapping',
    start: event.start,
  };
};

const columnOf = (text: string, offset: number): number =>
  offset - (Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1);
