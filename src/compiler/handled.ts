import type { LowChunk } from '../protocol/low.ts';
import { lowTag } from '../protocol/low.ts';
import { isPlainDict } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';

/**
 * Whether every failed state was handled: a state with `onfail` on it and `onfail_stop: False` ran
 * and succeeded. (salt.utils.state.check_onfail_requisites)
 */
export const allHandled = (chunks: readonly LowChunk[], results: StateResults): boolean => {
  const handlers = chunks.filter(chunk => chunk.onfail_stop === false);
  if (handlers.length === 0) return false;
  const byTag = new Map(chunks.map(chunk => [lowTag(chunk), chunk]));
  return Object.entries(results).every(([tag, { result }]) => {
    const chunk = byTag.get(tag);
    return result !== false || (chunk !== undefined && isHandled(chunk, handlers, results));
  });
};

const isHandled = (
  chunk: LowChunk,
  handlers: readonly LowChunk[],
  results: StateResults,
): boolean => {
  const own = handlers.filter(handler => handler !== chunk && handles(handler, chunk));
  const outcomes = own.map(handler => results[lowTag(handler)]?.result);
  return outcomes.includes(true) && !outcomes.includes(false);
};

const handles = ({ onfail }: LowChunk, { state, __id__ }: LowChunk): boolean =>
  Array.isArray(onfail) && onfail.some(item => isPlainDict(item) && item[state] === __id__);
