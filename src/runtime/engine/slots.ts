import { withShellOfStates } from '../../modules/salt/shell-default.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from '../../protocol/plain.ts';
import { parseSlotCall, slotPrefix } from '../../protocol/slot-call.ts';
import type { EngineHost } from './run-state.ts';
import { traversePlain } from './traverse.ts';

/**
 * Returns the arguments with their slots filled: `__slot__:salt:test.arg(x, key=y).path ~ /tail`
 * calls an execution function just before the state runs. Slots are recognised in strings, in the
 * values of a dictionary, and in the strings and dictionaries of a list. The given arguments are
 * not modified.
 */
export const fillSlots = async (host: EngineHost, kwargs: PlainDict): Promise<PlainDict> => {
  if (!hasSlots(kwargs)) return kwargs;
  const filled: PlainDict = { ...kwargs };
  for (const [key, value] of Object.entries(kwargs)) setOwn(filled, key, await fill(host, value));
  return filled;
};

export const hasSlots = (kwargs: PlainDict): boolean => {
  for (const key of Object.keys(kwargs)) if (hasSlot(kwargs[key] as Plain)) return true;
  return false;
};

const isSlot = (value: Plain): value is string =>
  typeof value === 'string' && value.startsWith(slotPrefix);

const hasSlot = (value: Plain): boolean => {
  if (typeof value === 'string') return isSlot(value);
  if (typeof value !== 'object' || value === null) return false;
  return (
    hasSlotInDict(value) ||
    (Array.isArray(value) && value.some(item => isSlot(item) || hasSlotInDict(item)))
  );
};

const hasSlotInDict = (value: Plain): value is PlainDict =>
  isPlainDict(value) && Object.values(value).some(isSlot);

const fill = async (host: EngineHost, value: Plain): Promise<Plain> => {
  if (!Array.isArray(value)) return fillItem(host, value);
  const list: Plain[] = [];
  for (const item of value) list.push(await fillItem(host, item));
  return list;
};

const fillItem = async (host: EngineHost, value: Plain): Promise<Plain> => {
  if (isSlot(value)) return (await evaluate(host, value)) as Plain;
  if (!hasSlotInDict(value)) return value;
  const dict: PlainDict = { ...value };
  for (const [key, item] of Object.entries(dict))
    if (isSlot(item)) setOwn(dict, key, (await evaluate(host, item)) as Plain);
  return dict;
};

const evaluate = async (host: EngineHost, slot: string): Promise<unknown> => {
  const [, kind, ...rest] = slot.split(':');
  const text = rest.join(':');
  const malformed = (why: string): string => {
    host.log('warning', `Malformed slot: ${slot}: ${why}`);
    return slot;
  };
  if (rest.length === 0) return malformed('it has no function');
  if (kind !== 'salt') return malformed('a slot starts with "__slot__:salt:"');
  const call = parseSlotCall(text);
  if (!call) return malformed("a slot holds a call: test.arg('arg', kw='kwarg')");
  if (!host.hasFunction(call.fun)) return malformed(`'${call.fun}' is not available.`);
  const kwargs = withShellOfStates(call.fun, call.args, call.kwargs, host.opts);
  const answer = await host.execute(call.fun, call.args, kwargs);
  const [path = '', ...tail] = call.rest.split('~');
  const found = pick(answer, path.trim());
  if (tail.length === 0) return found ?? null;
  if (typeof found === 'string') return found + tail.join('~').trim();
  host.log('error', `Ignoring slot append, slot result is not a string: ${slot}`);
  return found ?? null;
};

const pick = (answer: unknown, path: string): unknown =>
  path.startsWith('.') ? traversePlain(answer, path.slice(1).trim(), '.') : answer;
