import { messageOf } from '../../protocol/error.ts';
import { dictOf, isOrderedDict } from '../../protocol/key-order.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from '../../protocol/plain.ts';
import { withWholeFloatsOf } from '../../protocol/whole-floats.ts';
import { truthy } from './low-tools.ts';

/**
 * Normalizes the return value of a state (spec/state-modules, "Return Data"): a comment list becomes
 * lines, result becomes true, false or null. A malformed return becomes a failed state that reports
 * the reason.
 */
export const checkStateReturn = (value: unknown): PlainDict => {
  try {
    const result = toJson(value, []);
    const fault = findFault(result);
    if (fault !== undefined) return malformed(fault);
    return unify(result as PlainDict);
  } catch (error) {
    return malformed(messageOf(error));
  }
};

const malformed = (fault: string): PlainDict => ({
  result: false,
  name: 'later',
  changes: {},
  comment: `An exception occurred in this state: ${fault}`,
});

const findFault = (result: Plain): string | undefined => {
  if (!isPlainDict(result)) return 'Malformed state return. Data must be a dictionary type.';
  if (!isPlainDict(result.changes)) return "'Changes' should be a dictionary.";
  const missing = ['name', 'result', 'changes', 'comment'].filter(
    key => !Object.hasOwn(result, key),
  );
  if (missing.length > 0)
    return `The following keys were not present in the state return: ${missing.join(', ')}.`;
  return undefined;
};

const unify = (result: PlainDict): PlainDict => {
  const { comment } = result;
  if (Array.isArray(comment)) result.comment = comment.map(lineOf).join('\n');
  if (result.result !== null) result.result = truthy(result.result);
  if (Array.isArray(result.sub_state_run))
    result.sub_state_run = result.sub_state_run.map(item => checkSubState(item));
  return result;
};

/** Checks a state that is part of an outer tool's run: it has `low` instead of `name`. */
const checkSubState = (item: Plain): Plain => {
  if (!isPlainDict(item)) return malformed('a sub state run must be a dictionary.');
  const { comment, result } = item;
  if (!isPlainDict(item.changes))
    return { ...item, ...malformed("'Changes' should be a dictionary.") };
  return {
    ...item,
    comment: Array.isArray(comment) ? comment.map(lineOf).join('\n') : (comment ?? ''),
    result: result === null || result === undefined ? null : truthy(result),
  };
};

const lineOf = (line: Plain): string => (typeof line === 'string' ? line : JSON.stringify(line));

/**
 * Returns a copy that is JSON data and shares nothing with the original. Throws on values that JSON
 * cannot represent (functions, symbols, big integers, Maps, Sets, bytes, cycles) and names their
 * position.
 */
export const toJson = (
  value: unknown,
  path: readonly string[] = [],
  above: unknown[] = [],
): Plain => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object') throw unserializable(path, `a ${typeof value}`);
  if (above.includes(value)) throw unserializable(path, 'a reference to itself');
  if (above.length > 200) throw unserializable(path, 'nested too deep');
  const inside = [...above, value];
  if (Array.isArray(value))
    return withWholeFloatsOf(
      value,
      value.map((item, index) => toJson(item, [...path, String(index)], inside)),
    );
  if ('toJSON' in value && typeof value.toJSON === 'function' && !(value instanceof Uint8Array))
    return toJson(value.toJSON(), path, inside);
  if (value instanceof Error) return value.message;
  if (!isPlainDict(value)) throw unserializable(path, `a ${classOf(value)}`);
  if (isOrderedDict(value))
    return withWholeFloatsOf(
      value,
      dictOf(
        Object.entries(value).map(([key, item]) => [key, toJson(item, [...path, key], inside)]),
      ),
    );
  const copy: PlainDict = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) setOwn(copy, key, toJson(item, [...path, key], inside));
  return withWholeFloatsOf(value, copy);
};

/** `Map`, `Generator` … */
const classOf = (value: object): string =>
  value.constructor?.name || Object.prototype.toString.call(value).slice(8, -1);

const unserializable = (path: readonly string[], what: string): TypeError =>
  new TypeError(
    `The return cannot be serialized: ${path.length > 0 ? `"${path.join('.')}"` : 'it'} is ${what}.`,
  );
