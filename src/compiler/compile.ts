import type { Data, Dict } from '../data/values/value.ts';
import type { Chunk } from './chunks.ts';
import { chunksOf } from './chunks.ts';
import { applyExclude, reconcileExtend } from './extend.ts';
import { gather } from './gather.ts';
import type { High } from './high.ts';
import { highOf, isEmpty } from './high.ts';
import type { SlsTree } from './load.ts';
import { StateIndex } from './lookup.ts';
import type { Problem } from './problem.ts';
import { RequisitesIn } from './requisite-in.ts';
import { verifyHigh } from './verify.ts';

export type CompileOptions = {
  /** `state_auto_order`, default true. */
  readonly autoOrder?: boolean;
  /** `disabled_requisites`. */
  readonly disabledRequisites?: readonly string[];
  /** `exclude=` of the call. */
  readonly exclude?: readonly Data[];
  /**
   * How many stages collect errors: `run` ends after each stage with errors, as a state run does;
   * `show` continues through all stages, as `state.show_lowstate` does; `show-sls` ends after
   * rendering and checking, as `state.show_low_sls` does. Default `run`.
   */
  readonly collect?: 'run' | 'show' | 'show-sls';
};

export type Compiled = {
  /** Whether no SLS declares a state. */
  readonly empty: boolean;
  /** Low chunks in the order in which they start; empty if there are errors. */
  readonly chunks: readonly Chunk[];
  readonly errors: readonly Problem[];
};

/**
 * Compiles rendered SLS to low chunks: merge, extend, check, requisites `_in`, exclude, order.
 * Pure: the tree and its contents are not changed.
 */
export const compile = (tree: SlsTree, options: CompileOptions = {}): Compiled => {
  const { high, problems } = gather(tree, { autoOrder: options.autoOrder ?? true });
  const collect = options.collect ?? 'run';
  if (problems.length > 0 && collect === 'run')
    return { empty: isEmpty(high), chunks: [], errors: problems };
  const empty = isEmpty(high);
  if (options.exclude) addExclude(high, options.exclude);
  return { ...compileGathered(high, options, problems), empty };
};

/** As `compile`, but begins with high data. */
export const compileHigh = (data: Dict, options: CompileOptions = {}): Compiled => {
  const high = highOf(data);
  return compileGathered(high, options, []);
};

const compileGathered = (
  high: High,
  options: CompileOptions,
  earlier: readonly Problem[],
): Compiled => {
  const collect = options.collect ?? 'run';
  const empty = isEmpty(high);
  const lookup = new StateIndex(high);
  const errors = [...earlier, ...reconcileExtend(high, lookup, false)];
  const requisites = new RequisitesIn(high, lookup, options.disabledRequisites ?? []);
  errors.push(...verifyHigh(high, declaration => requisites.take(declaration)));
  if (errors.length > 0 && collect !== 'show') return { empty, chunks: [], errors };
  errors.push(...requisites.apply());
  applyExclude(high);
  if (errors.length > 0) return { empty, chunks: [], errors };
  const { chunks, problems } = chunksOf(high);
  return problems.length > 0 ? { empty, chunks: [], errors: problems } : { empty, chunks, errors };
};

/** Adds to the `exclude:` declarations. */
const addExclude = (high: High, exclude: readonly Data[]): void => {
  high.exclude = [...(high.exclude ?? []), ...exclude];
};
