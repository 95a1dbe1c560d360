import { lowTag } from '../../../../protocol/low.ts';
import type { LowChunk, PlainDict } from '../../../api.ts';

/** Adds the rules of all later states of the same function to this one. Called by the state engine. */
export const mod_aggregate = async (
  low: LowChunk,
  chunks: LowChunk[],
  running: PlainDict,
): Promise<LowChunk> => {
  if (low.fun !== 'append' && low.fun !== 'insert') return low;
  const added: PlainDict[] = [];
  for (const chunk of chunks) {
    const tag = lowTag(chunk);
    if (tag === lowTag(low) || tag in running || '__agg__' in chunk) continue;
    if (chunk.state !== 'iptables' || chunk.fun !== low.fun) continue;
    added.push(...rulesOf(chunk));
    chunk.__agg__ = true;
  }
  if (added.length > 0) low.rules = [...rulesOf(low), ...added];
  return low;
};

const rulesOf = ({ rules, ...chunk }: LowChunk): PlainDict[] =>
  Array.isArray(rules) ? (rules as PlainDict[]) : [chunk];
