import type { Data, Dict } from '../../data/value.ts';

/**
 * A Salt filter on plain data, for every template language: the names of its parameters
 * after the value, and what it does. Absent arguments are `undefined`.
 */
export type SaltFilter = {
  readonly params: readonly string[];
  readonly run: (value: Data, ...args: (Data | undefined)[]) => Data;
};

export type FilterTable = Readonly<Record<string, SaltFilter>>;

/**
 * Calls a filter with positional and keyword arguments.
 *
 * @throws TypeError naming the argument that it does not take.
 */
export const callFilter = (
  name: string,
  { params, run }: SaltFilter,
  value: Data,
  args: readonly Data[],
  kwargs: Dict,
): Data => {
  if (args.length > params.length)
    throw new TypeError(
      `the filter '${name}' takes ${params.length} arguments, not ${args.length}`,
    );
  const bound: (Data | undefined)[] = [...args];
  for (const [key, item] of kwargs) {
    const index = params.indexOf(String(key));
    if (index < 0) throw new TypeError(`the filter '${name}' has no argument '${String(key)}'`);
    if (index < args.length) throw new TypeError(`the filter '${name}' got '${String(key)}' twice`);
    bound[index] = item;
  }
  return run(value, ...bound);
};

export const textOf = (value: Data | undefined): string =>
  value === null || value === undefined ? '' : String(value);

export const listOf = (value: Data | undefined, name: string): Data[] => {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Map) return [...value.keys()];
  throw new TypeError(`the filter '${name}' takes a list`);
};

export const isTrue = (value: Data | undefined): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : value instanceof Map
      ? value.size > 0
      : Boolean(value?.valueOf());
