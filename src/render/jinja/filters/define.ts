import type { Eventual } from '../after.ts';
import { type BoundValues, bindMacro, type Params } from '../bind.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import type { Value } from '../values/value.ts';

type Work = (value: Value, args: BoundValues, run: Run) => Eventual<Value>;

/** Makes filters or tests from a table: names, parameters and functions. */
export const operations = (table: Readonly<Record<string, readonly [Params, Work]>>): Operations =>
  new Map(
    Object.entries(table).map(([name, [params, work]]): [string, Operation] => [
      name,
      (value, args, run) => work(value, bindMacro(name, params, args), run),
    ]),
  );
