import type { PlainDict } from '../protocol/plain.ts';
import { isPlainDict } from '../protocol/plain.ts';
import type { StateResult, StateResults } from '../protocol/result.ts';
import { showValue } from './text.ts';

const mark = '_|-state_compressed_';

/** The number of states that a tag of `compressIds` combines. */
export const compressedCount = (tag: string): number => {
  if (!tag.includes(mark)) return 1;
  return Number(/\((\d+)\)$/.exec(tag.split('_|-')[1] ?? '')?.[1] ?? 1);
};

/**
 * `state_compress_ids`: the states of one ID, module, SLS and result as one entry, with the
 * first start, the summed duration and the changes by name (spec: salt.output.highstate).
 */
export const compressIds = (results: StateResults): StateResults => {
  const counts = new Map<string, number>();
  for (const [tag, result] of Object.entries(results)) {
    const group = groupOf(tag, result);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const compressed = new Map<string, StateResult>();
  for (const [tag, result] of Object.entries(results)) {
    const count = counts.get(groupOf(tag, result)) ?? 1;
    if (count === 1) compressed.set(tag, result);
    else {
      const key = sharedTag(tag, result, count);
      const known = compressed.get(key);
      compressed.set(key, known ? join(known, result) : result);
    }
  }
  return Object.fromEntries(compressed);
};

const groupOf = (tag: string, { __id__, __sls__, result }: StateResult): string =>
  [tag.split('_|-')[0], __id__, __sls__, showValue(result)].join('_');

const sharedTag = (
  tag: string,
  { __id__, __sls__, result }: StateResult,
  count: number,
): string => {
  const [state, , , fun] = tag.split('_|-');
  const name = ['state_compressed', __sls__, __id__, showValue(result)].join('_');
  return [state, `${__id__} (${count})`, name, fun].join('_|-');
};

const join = (known: StateResult, next: StateResult): StateResult => ({
  ...known,
  __run_num__: Math.min(known.__run_num__, next.__run_num__),
  duration: Math.round((known.duration + next.duration) * 1000) / 1000,
  start_time: known.start_time < next.start_time ? known.start_time : next.start_time,
  changes: joinChanges(known, next),
});

const joinChanges = (known: StateResult, next: StateResult): PlainDict => {
  if (Object.keys(next.changes).length === 0) return known.changes;
  const before = known.changes['compressed changes'];
  const first =
    Object.keys(known.changes).length > 0 ? { [showValue(known.name)]: known.changes } : {};
  return {
    'compressed changes': {
      ...(isPlainDict(before) ? before : first),
      [showValue(next.name)]: next.changes,
    },
  };
};
