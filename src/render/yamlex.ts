import type { Ranges } from '../data/taint.ts';
import type { Data } from '../data/values/value.ts';
import { loadYamlex } from '../yaml/yamlex.ts';
import type { Stage } from './types.ts';

/** YAML with `!aggregate` and `!reset`. */
export const renderYamlex = (text: string, { request, tainted }: Stage): Data => {
  const { taint } = request.context;
  const onScalar = (value: string, ranges: Ranges): void => taint?.learn(value, ranges);
  return (
    loadYamlex(text, {
      file: request.file,
      ...(tainted && taint ? { taint: { ranges: tainted, owner: taint.owner, onScalar } } : {}),
    }) ?? new Map()
  );
};
