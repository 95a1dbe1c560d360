import { type BoundValues, bindMacro, type Params } from '../bind.ts';
import type { Run } from '../run/run.ts';
import type { Args, Value } from '../values/value.ts';

/** A method of a Python type. */
export type Method<Self> = (self: Self, args: Args, run: Run) => Value;

export type Methods<Self> = ReadonlyMap<string, Method<Self>>;

type Plain<Self> = readonly [Params, (self: Self, args: BoundValues, run: Run) => Value];

/** Makes methods from a table: names, parameters and functions. */
export const methods = <Self>(
  type: string,
  table: Readonly<Record<string, Plain<Self>>>,
): Methods<Self> =>
  new Map(
    Object.entries(table).map(([name, [params, work]]) => [
      name,
      (self, args, run) => work(self, bindMacro(`${type}.${name}`, params, args), run),
    ]),
  );
