import type { Data, Dict } from '../../data/values/value.ts';

/**
 * A Salt filter on plain data, for every template language: the names of its parameters
 * after the value (those that may be left out with a `?`), and what it does. Absent arguments
 * are `undefined`.
 */
export type SaltFilter = {
  readonly params: readonly string[];
  /** It takes any number of positional arguments; they stand behind those with names. */
  readonly isOpen?: true;
  /** It changes the value it is given: what is shared has to be copied before. */
  readonly changesValue?: true;
  readonly run: (value: Data, ...args: (Data | undefined)[]) => Data;
};

export type FilterTable = Readonly<Record<string, SaltFilter>>;

/** How a filter is called: the names of its parameters, and whether it takes more of them. */
type Signature = Pick<SaltFilter, 'params' | 'isOpen'>;

/**
 * Positional and keyword arguments in the order of the parameters.
 *
 * @throws TypeError naming the argument that the filter does not take, or misses.
 */
export const bindFilter = (
  name: string,
  { params, isOpen }: Signature,
  args: readonly Data[],
  kwargs: Dict,
): (Data | undefined)[] => {
  if (args.length > params.length && !isOpen)
    throw new TypeError(
      `the filter '${name}' takes ${params.length} arguments, not ${args.length}`,
    );
  const bound: (Data | undefined)[] = isOpen
    ? [...params.map(() => undefined), ...args]
    : [...args];
  for (const [key, item] of kwargs) {
    const index = params.findIndex(param => param.replace('?', '') === String(key));
    if (index < 0) throw new TypeError(`the filter '${name}' has no argument '${String(key)}'`);
    if (!isOpen && index < args.length)
      throw new TypeError(`the filter '${name}' got '${String(key)}' twice`);
    bound[index] = item;
  }
  const missing = params.find((param, index) => !param.endsWith('?') && bound[index] === undefined);
  if (missing !== undefined) throw new TypeError(`the filter '${name}' needs '${missing}'`);
  return bound;
};

/** Calls a filter; throws as `bindFilter` does, and what the filter itself throws. */
export const callFilter = (
  name: string,
  filter: SaltFilter,
  value: Data,
  args: readonly Data[],
  kwargs: Dict,
): Data => filter.run(value, ...bindFilter(name, filter, args, kwargs));

export const filterText = (value: Data | undefined): string =>
  value === null || value === undefined ? '' : String(value);

export const listOf = (value: Data | undefined, name: string): Data[] => {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return Array.from(value);
  if (value instanceof Map) return [...value.keys()];
  throw new TypeError(`the filter '${name}' takes a list`);
};

export const isTrueData = (value: Data | undefined): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : value instanceof Map
      ? value.size > 0
      : Boolean(value?.valueOf());
