import {
  type FindRanges,
  type FoundRanges,
  ofIndented,
  ofJoined,
  ofPart,
  ofReplaced,
  ofSameLength,
  ofSerialized,
} from './align.ts';

/** The input of a filter or method that made a string: the value and the positional arguments. */
export type Work = {
  readonly value: unknown;
  readonly args: readonly unknown[];
  readonly result: string;
  readonly look: FindRanges;
};

type Transfer = (work: Work) => FoundRanges;

const onText =
  (transfer: (text: string, work: Work) => FoundRanges): Transfer =>
  work =>
    typeof work.value === 'string' ? transfer(work.value, work) : undefined;

const sameLength = onText((text, { result, look }) => ofSameLength(text, result, look));
const front = onText((text, { result, look }) => ofPart(text, result, 0, look));
const back = onText((text, { result, look }) =>
  ofPart(text, result, text.length - result.length, look),
);
/**
 * `strip` removes characters that are not at the ends of the result, so its first occurrence is the
 * right one.
 */
const middle = onText((text, { result, look }) =>
  ofPart(text, result, Math.max(0, text.indexOf(result)), look),
);
const replaced = onText((text, { args, result, look }) => ofReplaced(text, args, result, look));
const indented = onText((text, { result, look }) => ofIndented(text, result, look));
const serialized: Transfer = ({ value, result, look }) => ofSerialized(value, result, look);

/**
 * Filters and methods, by name, for which it is known where the characters of the value are in the
 * result. Each transfer verifies that itself. All others taint their whole result.
 */
export const transfers: ReadonlyMap<string, Transfer> = new Map([
  ...['upper', 'lower', 'capitalize', 'title', 'swapcase', 'upcase', 'downcase'].map(
    name => [name, sameLength] as const,
  ),
  ...['strip', 'trim'].map(name => [name, middle] as const),
  ...['rstrip', 'removesuffix'].map(name => [name, front] as const),
  ...['lstrip', 'removeprefix'].map(name => [name, back] as const),
  ['replace', replaced],
  ['indent', indented],
  ...[
    'json',
    'tojson',
    'yaml',
    'yaml_encode',
    'yaml_dquote',
    'yaml_squote',
    'dict_to_sls_yaml_params',
    'python',
    'pprint',
  ].map(name => [name, serialized] as const),
]);

/** `join`: in Python's method, the value is the separator; in filters, it is the list. */
export const joined = (
  items: readonly unknown[] | undefined,
  separator: unknown,
  { result, look }: Work,
): FoundRanges =>
  items && typeof separator === 'string' ? ofJoined(items, separator, result, look) : undefined;
