import { type Dict, isDict } from '../../../data/values/value.ts';

/** The limits of one template, so that a hostile one cannot hang or exhaust the control node. */
export type Limits = {
  /** Its own time, without the time for hosts' responses. */
  readonly milliseconds: number;
  /** Loop iterations and macro calls. */
  readonly steps: number;
  /** Characters printed and concatenated. */
  readonly characters: number;
  /** Depth of nested macros, includes and imports. */
  readonly depth: number;
};

const usual: Limits = {
  milliseconds: 20_000,
  steps: 20_000_000,
  characters: 400_000_000,
  depth: 300,
};

/** Returns the limits, adjusted by `jinja_limits` of the configuration. */
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
