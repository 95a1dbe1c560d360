import type { Context, Liquid } from 'liquidjs';
import { cloneData } from '../../data/values/clone.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { callFilter } from '../filters/filter.ts';
import { saltFilters } from '../filters/filters.ts';
import { type CallHost, hostFilters } from '../filters/host.ts';
import { noteNondeterminism } from '../nondeterminism.ts';
import { choiceError } from '../taint/choice-error.ts';
import { stageOf } from './stage.ts';
import { tableOf } from './tracking.ts';
import { unwrap, wrap } from './wrap.ts';

type FilterThis = {
  readonly context: Context;
  readonly token: { readonly args: readonly unknown[] };
};

/** Splits the positional and named arguments of a filter. */
const split = (self: FilterThis, argv: readonly unknown[]): { args: Data[]; kwargs: Dict } => {
  const args: Data[] = [];
  const kwargs: Dict = new Map();
  argv.forEach((value, index) => {
    if (Array.isArray(self.token.args[index])) {
      const [name, item] = value as [string, unknown];
      kwargs.set(name, unwrap(item));
    } else args.push(unwrap(value));
  });
  return { args, kwargs };
};

export const registerFilters = (liquid: Liquid): void => {
  liquid.registerFilter('salt', async function (
    this: FilterThis,
    fun: unknown,
    ...argv: unknown[]
  ) {
    const { args, kwargs } = split(this, argv);
    const { call, livesHere } = stageOf(this.context.globals).request.context;
    const table = tableOf(this.context.globals);
    const ranges = table?.of(String(fun));
    if (table && ranges && (await livesHere?.(String(fun))) !== false)
      throw choiceError(table.owner, ranges, `the function "${String(fun)}" of the control node`);
    // Some functions change their arguments, and the template's data is shared.
    const [ownArgs, ownKwargs] = cloneData([args, kwargs]) as [Data[], Dict];
    return wrap(await call(String(fun), ownArgs, ownKwargs));
  } as never);
  for (const [name, filter] of Object.entries(saltFilters)) {
    liquid.registerFilter(name, function (this: FilterThis, value: unknown, ...argv: unknown[]) {
      const { args, kwargs } = split(this, argv);
      const data = unwrap(value);
      const own = filter.changesValue ? cloneData(data) : data;
      return wrap(callFilter(name, filter, own, args, kwargs));
    } as never);
  }
  for (const [name, filter] of hostFilters) {
    liquid.registerFilter(name, async function (
      this: FilterThis,
      value: unknown,
      ...argv: unknown[]
    ) {
      const { args, kwargs } = split(this, argv);
      const { call } = stageOf(this.context.globals).request.context;
      const ask: CallHost = (fun, list, options = new Map()) => call(fun, list, options);
      return wrap(await filter(ask, unwrap(value), args, kwargs));
    } as never);
  }
  for (const name of chancy) {
    const own = liquid.filters[name] as FilterFunction;
    liquid.registerFilter(name, function (this: FilterThis, ...argv: unknown[]) {
      noteNondeterminism();
      return own.apply(this, argv);
    } as never);
  }
  liquid.registerFilter('size', ((value: unknown) => sizeOf(unwrap(value))) as never);
};

type FilterFunction = (this: FilterThis, ...argv: unknown[]) => unknown;

/** Liquid's own filters that choose randomly, or read the clock for `now`. */
const chancy = [
  'sample',
  'date',
  'date_to_xmlschema',
  'date_to_rfc822',
  'date_to_string',
  'date_to_long_string',
];

const sizeOf = (data: Data): number => {
  if (typeof data === 'string') return Array.from(data).length;
  return Array.isArray(data) ? data.length : isDict(data) ? data.size : 0;
};
