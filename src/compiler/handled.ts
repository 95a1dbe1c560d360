import type { Data, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import type { LowChunk } from '../protocol/low.ts';
import { lowTag } from '../protocol/low.ts';
import type { StateResults } from '../protocol/result.ts';

/**
 * Was every failed state handled? A failure counts as handled where a state with `onfail` on it
 * and `onfail_stop: False` ran and succeeded. (salt.utils.state.check_onfail_requisites)
 */
export const allHandled = (chunks: readonly Dict[], results: StateResults): boolean => {
  const handlers = chunks.filter(chunk => chunk.get('onfail_stop') === false);
  if (handlers.length === 0) return false;
  const byTag = new Map(chunks.map(chunk => [tagOf(chunk), chunk]));
  return Object.entries(results).every(([tag, { result }]) => {
    const chunk = byTag.get(tag);
    return result !== false || (chunk !== undefined && isHandled(chunk, handlers, results));
  });
};

const isHandled = (chunk: Dict, handlers: readonly Dict[], results: StateResults): boolean => {
  const own = handlers.filter(handler => handler !== chunk && handles(handler, chunk));
  const outcomes = own.map(handler => results[tagOf(handler)]?.result);
  return outcomes.includes(true) && !outcomes.includes(false);
};

const tagOf = (chunk: Dict): string =>
  lowTag(
    Object.fromEntries(chunk) as unknown as Pick<LowChunk, 'state' | '__id__' | 'name' | 'fun'>,
  );

const handles = (handler: Dict, chunk: Dict): boolean => {
  const list: Data = handler.get('onfail') ?? [];
  return (
    Array.isArray(list) &&
    list.some(
      item => isDict(item) && item.get(chunk.get('state') as string) === chunk.get('__id__'),
    )
  );
};
