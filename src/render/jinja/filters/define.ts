import type { Eventual } from '../after.ts';
import { type BoundValues, bindMacro, type Params } from '../bind.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import type { Value } from '../values/value.ts';

type Work = (value: Value, args: BoundValues, run: Run) => Eventual<Value>;

/** Filters or tests by name: the names of their parameters, and what they do. */
export const operations = (table: Readonly<Record<string, readonly [Params, Work]>>): Operations =>
  new Map(
    Object.entries(table).map(([name, [params, work]]): [string, Operation] => [
      name,
      (value, args, run) => work(value, bindMacro(name, params, args), run),
    ]),
  );
