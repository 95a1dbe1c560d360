import { type Dict, isDict } from '../../../data/values/value.ts';

/** The limits of one template, so that a hostile one cannot hang or exhaust the control node. */
export type Limits = {
  /** Time of its own, without the time hosts take to answer. */
  readonly milliseconds: number;
  /** Rounds of loops and calls of macros. */
  readonly steps: number;
  /** Characters printed and put together. */
  readonly characters: number;
  /** Macros, includes and imports in each other. */
  readonly depth: number;
};

const usual: Limits = {
  milliseconds: 20_000,
  steps: 20_000_000,
  characters: 400_000_000,
  depth: 300,
};

/** The limits, changed by `jinja_limits` of the configuration. */
export const jinjaLimitsFrom = (opts: Dict): Limits => {
  const given = opts.get('jinja_limits');
  if (!isDict(given)) return usual;
  const pick = (name: keyof Limits): number => {
    const value = given.get(name);
    return typeof value === 'number' && value > 0 ? value : usual[name];
  };
  return {
    milliseconds: pick('milliseconds'),
    steps: pick('steps'),
    characters: pick('characters'),
    depth: Math.min(pick('depth'), 1000),
  };
};
