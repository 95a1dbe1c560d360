import type { LowChunk } from '../../protocol/low.ts';
import type { StateResult, StateResults } from '../../protocol/result.ts';
import { readRequisite } from './low-tools.ts';

/**
 * Returns Salt's return code of a state run: 2 if a state failed or nothing ran. A failure is
 * ignored if states with `onfail_stop: false` name it in `onfail` and succeeded themselves.
 */
export const retcodeOf = (results: StateResults, chunks: readonly LowChunk[]): number => {
  const all = Object.values(results);
  if (all.length === 0) return 2;
  const failed = Object.entries(results).filter(([, { result }]) => result === false);
  if (failed.length === 0) return 0;
  const handlers = chunks.filter(({ onfail_stop }) => onfail_stop === false);
  return failed.every(([tag, result]) => isHandled(tag, result, handlers, results)) ? 0 : 2;
};

const isHandled = (
  tag: string,
  failed: StateResult,
  handlers: readonly LowChunk[],
  results: StateResults,
): boolean => {
  const [state, id = failed.__id__] = tag.split('_|-');
  const own = handlers.filter(
    low =>
      low.__id__ !== id &&
      Array.isArray(low.onfail) &&
      low.onfail.map(readRequisite).some(({ key, value }) => key === state && value === id),
  );
  return own.length > 0 && own.every(low => wentWell(low, results));
};

const wentWell = (low: LowChunk, results: StateResults): boolean => {
  const prefix = `${low.state}_|-${low.__id__}_|-`;
  const outcomes = Object.entries(results)
    .filter(([tag]) => tag.startsWith(prefix))
    .map(([, { result }]) => result);
  return outcomes.includes(true) && !outcomes.includes(false);
};
