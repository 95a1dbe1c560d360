import type { Context, Liquid } from 'liquidjs';
import type { Data, Dict } from '../../data/value.ts';
import { stageOf } from './stage.ts';
import { unwrap, wrap } from './wrap.ts';

type FilterThis = {
  readonly context: Context;
  readonly token: { readonly args: readonly unknown[] };
};

/** Positional and named arguments of a filter: only the template knows which is which. */
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
    const { request } = stageOf(this.context.globals);
    return wrap(await request.context.call(String(fun), args, kwargs));
  } as never);
};
