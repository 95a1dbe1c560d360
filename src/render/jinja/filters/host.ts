import { hostFilters as shared } from '../../filters/host.ts';
import { JinjaError } from '../jinja-error.ts';
import { copyOnRead } from '../run/copy-on-read.ts';
import type { Operation, Operations } from '../run/run.ts';
import { toDataDict, valueToData } from '../values/to-data.ts';
import type { Value } from '../values/value.ts';

/** Salt's filters that inspect a machine: they call the host. */
export const jinjaHostFilters: Operations = new Map(
  Array.from(shared, ([name, filter]): [string, Operation] => [
    name,
    async (value, { list, named }, run): Promise<Value> => {
      try {
        const answer = await filter(
          async (fun, args, kwargs = new Map()) => {
            const options = new Map(Array.from(kwargs, ([key, item]) => [String(key), item]));
            return valueToData(
              await run.call(fun, { list: args as Value[], named: options as never }),
            );
          },
          valueToData(value),
          list.map(valueToData),
          toDataDict(named),
        );
        return copyOnRead(answer);
      } catch (error) {
        if (error instanceof TypeError)
          throw new JinjaError('error', error.message, { cause: error });
        throw error;
      }
    },
  ]),
);
