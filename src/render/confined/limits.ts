import { availableParallelism } from 'node:os';
import { type Dict, isDict } from '../../data/values/value.ts';

/** The limits of one rendering that runs code. */
export type ScriptLimits = {
  /** CPU time, without the time for hosts' responses. */
  readonly milliseconds: number;
  /** Memory of a Mako or Wempy template. */
  readonly megabytes: number;
};

const usual: ScriptLimits = { milliseconds: 10_000, megabytes: 128 };

/** Returns the limits, adjusted by `script_limits` of the configuration. */
export const limitsFrom = (opts: Dict): ScriptLimits => {
  const given = opts.get('script_limits');
  const pick = (name: keyof ScriptLimits, most: number): number => {
    const value = isDict(given) ? given.get(name) : undefined;
    return typeof value === 'number' && value > 0 ? Math.min(value, most) : usual[name];
  };
  return { milliseconds: pick('milliseconds', 3_600_000), megabytes: pick('megabytes', 1024) };
};

/**
 * Threads that render code. One more than needed, so that an endless rendering does not block the
 * others.
 */
export const poolSize: number = Math.max(2, Math.min(4, availableParallelism()));
