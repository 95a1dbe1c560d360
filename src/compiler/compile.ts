import type { Data, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { chunksOf } from './chunks.ts';
import { applyExclude, reconcileExtend } from './extend.ts';
import { gather } from './gather.ts';
import type { High } from './high.ts';
import type { SlsTree } from './load.ts';
import { Lookup } from './lookup.ts';
import type { Problem } from './problem.ts';
import { collectStatements, requisiteIn, type Statement } from './requisite-in.ts';
import { verifyHigh } from './verify.ts';

export type CompileOptions = {
  /** `state_auto_order`, default true. */
  readonly autoOrder?: boolean;
  /** `disabled_requisites`. */
  readonly disabledRequisites?: readonly string[];
  /** `exclude=` of the call. */
  readonly exclude?: readonly Data[];
  /**
   * How far faults are collected: `run` ends after each stage that found some, as a state run
   * does; `show` goes through all stages, as `state.show_lowstate` does; `show-sls` ends after
   * rendering and checking, as `state.show_low_sls` does. Default `run`.
   */
  readonly collect?: 'run' | 'show' | 'show-sls';
};

export type Compiled = {
  readonly high: High;
  /** No SLS declared anything. */
  readonly empty: boolean;
  /** Low chunks in the order they start; empty when there are errors. */
  readonly chunks: readonly Dict[];
  readonly errors: readonly Problem[];
};

/**
 * Everything between rendered SLS and low chunks: merge, extend, check, requisites `_in`,
 * exclude, order. Pure: neither the tree nor what it holds is changed.
 */
export const compile = (tree: SlsTree, options: CompileOptions = {}): Compiled => {
  const { high, problems, complete } = gather(tree, { autoOrder: options.autoOrder ?? true });
  const collect = options.collect ?? 'run';
  if (problems.length > 0 && collect === 'run')
    return { high, empty: high.size === 0, chunks: [], errors: problems };
  const empty = high.size === 0;
  if (options.exclude) addExclude(high, options.exclude);
  if (!complete && collect === 'run') addDefaultCalls(high);
  return { ...compileGathered(high, options, problems), empty };
};

/** As `compile`, from high data on; the high data is consumed. */
export const compileHigh = (high: High, options: CompileOptions = {}): Compiled => {
  if ((options.collect ?? 'run') === 'run') addDefaultCalls(high);
  return compileGathered(high, options, []);
};

const compileGathered = (
  high: High,
  options: CompileOptions,
  earlier: readonly Problem[],
): Compiled => {
  const collect = options.collect ?? 'run';
  const empty = high.size === 0;
  const lookup = new Lookup(high);
  const errors = [...earlier, ...reconcileExtend(high, false, lookup)];
  const statements: Statement[] = [];
  const disabled = options.disabledRequisites ?? [];
  errors.push(...verifyHigh(high, (id, body) => collectStatements(statements, id, body, disabled)));
  if (errors.length > 0 && collect !== 'show') return { high, empty, chunks: [], errors };
  errors.push(...requisiteIn(high, statements, lookup));
  applyExclude(high);
  if (errors.length > 0) return { high, empty, chunks: [], errors };
  const { chunks, problems } = chunksOf(high);
  return problems.length > 0
    ? { high, empty, chunks: [], errors: problems }
    : { high, empty, chunks, errors };
};

/** Adds to what `exclude:` declarations said. */
export const addExclude = (high: High, exclude: readonly Data[]): void => {
  const known = high.get('__exclude__');
  high.set('__exclude__', [...(Array.isArray(known) ? known : []), ...exclude]);
};

/** A state without a function calls `__call__`. (salt.state.State.inject_default_call) */
const addDefaultCalls = (high: High): void => {
  for (const body of high.values()) {
    if (!isDict(body)) continue;
    for (const args of body.values())
      if (Array.isArray(args) && !args.some(arg => typeof arg === 'string'))
        args.splice(Math.max(args.length - 1, 0), 0, '__call__');
  }
};
