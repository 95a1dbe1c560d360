import { dictOf, startsWithDigit } from '../../protocol/key-order.ts';
import { type Plain, type PlainDict, setOwn } from '../../protocol/plain.ts';
import { isWholeFloat, markWholeFloat, wholeFloatText } from '../../protocol/whole-floats.ts';

/**
 * The value model of the control side: the values of YAML, pillar, grains and templates.
 * Mappings are Maps, because Salt's dicts keep order and typed keys (`1` is not `"1"`) and a
 * plain object loses both. A JavaScript integer is an int; any other number a float; a float
 * with an integral value (1.0) is a `Float`, an int beyond 2^53 a bigint.
 */
export type Data = null | boolean | number | bigint | string | Float | Data[] | Dict;
export type DataKey = null | boolean | number | bigint | string | Float;
export type Dict = Map<DataKey, Data>;

/** A float whose value is integral, infinite or NaN. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
  valueOf(): number {
    return this.value;
  }
  toJSON(): number | null {
    return Number.isFinite(this.value) ? this.value : null;
  }
  toString(): string {
    if (Number.isNaN(this.value)) return 'nan';
    if (!Number.isFinite(this.value)) return this.value < 0 ? '-inf' : 'inf';
    return Number.isInteger(this.value) ? wholeFloatText(this.value) : String(this.value);
  }
}

export const isDict = (value: unknown): value is Dict => value instanceof Map;

/** Converts plain JSON data to Data: objects become Maps. */
export const toData = (value: Plain | undefined): Data => {
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (Array.isArray(value)) return value.map((item, at) => itemData(value, at, item));
  return toDict(value);
};

const itemData = (container: object, key: string | number, item: Plain): Data =>
  typeof item === 'number' && isWholeFloat(container, key) ? new Float(item) : toData(item);

/** @param dict - to which the entries are added; default: a new one */
export const toDict = (value: PlainDict, dict: Dict = new Map()): Dict => {
  for (const key of Object.keys(value)) dict.set(key, itemData(value, key, value[key] ?? null));
  return dict;
};

/** Returns a key as in JSON (Python's `json.dumps`: True -> "true", None -> "null"). */
export const keyText = (key: DataKey): string => String(key);

/**
 * Converts Data to plain JSON: Maps become objects that keep the order of their keys, floats become
 * numbers (those in a list or dict are recorded as floats, see `protocol/whole-floats.ts`), and big
 * ints become strings of digits if a number cannot represent them.
 */
export const toPlain = (value: Data): Plain => {
  if (value instanceof Float) return Number.isFinite(value.value) ? value.value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (!Array.isArray(value)) return toPlainDict(value);
  const list = value.map(toPlain);
  if (value.some(isWhole)) value.forEach((item, at) => isWhole(item) && markWholeFloat(list, at));
  return list;
};

/** Whether a float would look like an integer as a plain number. */
export const isWhole = (value: Data): value is Float =>
  value instanceof Float && Number.isInteger(value.value);

export const toPlainDict = (dict: Dict): PlainDict => {
  const plain: PlainDict = {};
  let digits = false;
  let floats = false;
  for (const [key, item] of dict) {
    const text = keyText(key);
    digits ||= startsWithDigit(text);
    floats ||= isWhole(item);
    setOwn(plain, text, toPlain(item));
  }
  const ordered = digits
    ? dictOf([...dict.keys()].map(keyText).map(key => [key, plain[key] ?? null]))
    : plain;
  if (floats)
    for (const [key, item] of dict) if (isWhole(item)) markWholeFloat(ordered, keyText(key));
  return ordered;
};
