import type { Data, Dict } from '../../data/values/value.ts';

/**
 * A Salt filter on plain data, for every template language: the names of its parameters after the
 * value (optional ones end with `?`), and its function. Missing arguments are `undefined`.
 */
export type SaltFilter = {
  readonly params: readonly string[];
  /** It accepts any number of positional arguments, after the named ones. */
  readonly isOpen?: true;
  /** It changes its value: shared data has to be copied before. */
  readonly changesValue?: true;
  readonly run: (value: Data, ...args: (Data | undefined)[]) => Data;
};

export type FilterTable = Readonly<Record<string, SaltFilter>>;

/** The parameters of a filter, and whether it accepts more. */
type Signature = Pick<SaltFilter, 'params' | 'isOpen'>;

/**
 * Returns the arguments in the order of the parameters.
 *
 * @throws TypeError for an unknown or missing argument
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

export const toFilterString = (value: Data | undefined): string =>
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
