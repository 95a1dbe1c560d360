/**
 * Functions that only prove that calls arrive: for connections, arguments, conditions and slots.
 */

import { createHash, getHashes, randomInt } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { notDone } from '../../../_shared/states/not-done.ts';
import { plainRepr } from '../../../_shared/text/python-text.ts';
import {
  __context__,
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';

export const __func_alias__ = { true_: 'true', false_: 'false', try_: 'try' };
type Kwargs = { [key: string]: Plain };

export const __outputter__ = { outputter: 'txt' };

/** True: the host was reached, and code runs on it. */
export const ping = (): boolean => true;

/**
 * Returns the text.
 * @param text any text
 */
export const echo = (text: Plain): Plain => text;

/** Always true. */
export const true_ = (): boolean => true;

/** Always false. */
export const false_ = (): boolean => false;

/**
 * Waits.
 * @param length seconds
 */
export const sleep = async (length: number): Promise<boolean> => {
  await sleepFor(length * 1000);
  return true;
};

/**
 * Waits a random time.
 * @param max the longest it may take, in seconds
 */
export const rand_sleep = (max = 60): Promise<boolean> => sleep(randomInt(max + 1));

/** The options of this run. */
export const get_opts = (): PlainDict => ({ ...__opts__ }) as PlainDict;

/** The keyword arguments, as they came. */
export const kwarg = (kwargs: { [key: string]: Plain } = {}): PlainDict => kwargs;

/** Positional and keyword arguments, as they came. */
export const arg = ({ ...kwargs }: Kwargs, ...args: Plain[]): PlainDict => ({ args, kwargs });

/** Returns the arguments without those that a publisher adds: keywords that begin with `__pub`. */
export const arg_clean = ({ ...kwargs }: Kwargs, ...args: Plain[]): PlainDict => ({
  args,
  kwargs: Object.fromEntries(Object.entries(kwargs).filter(([key]) => !key.startsWith('__pub'))),
});

/** The types of the arguments, as Python names them. */
export const arg_type = ({ ...kwargs }: Kwargs, ...args: Plain[]): PlainDict => ({
  args: args.map(typeOf),
  kwargs: Object.fromEntries(Object.entries(kwargs).map(([key, item]) => [key, typeOf(item)])),
});

/** The arguments as Python writes them: a tuple and a dict. */
export const arg_repr = ({ ...kwargs }: Kwargs, ...args: Plain[]): PlainDict => ({
  args: `(${args.map(plainRepr).join(', ')}${args.length === 1 ? ',' : ''})`,
  kwargs: plainRepr(kwargs),
});

const typeOf = (value: Plain): string => {
  const types = { string: 'str', boolean: 'bool', object: 'dict' } as const;
  const name =
    typeof value === 'number'
      ? Number.isInteger(value)
        ? 'int'
        : 'float'
      : value === null
        ? 'NoneType'
        : Array.isArray(value)
          ? 'list'
          : types[typeof value as keyof typeof types];
  return `<class '${name}'>`;
};

/**
 * A Fibonacci number and the seconds it took.
 * @param num which one
 */
export const fib = (num: number): number[] => {
  const count = num;
  if (!Number.isInteger(count) || count < 0)
    throw new SaltInvocationError('Negative number is not allowed!');
  const start = performance.now();
  let [before, current] = [0, count === 0 ? 0 : 1];
  for (let index = 1; index < count; index++) [before, current] = [current, before + current];
  return [current, (performance.now() - start) / 1000];
};

/**
 * The numbers from `start` down to 1 by the rule of Collatz, and the seconds it took.
 * @param start a positive integer
 */
export const collatz = (start: number | string): Plain[] => {
  let value = Number(start);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new SaltInvocationError('collatz needs a positive integer.');
  const begin = performance.now();
  const steps: number[] = [];
  while (value !== 1) {
    steps.push(value);
    value = value % 2 === 0 ? value / 2 : value * 3 + 1;
  }
  return [steps, (performance.now() - begin) / 1000];
};

/**
 * Returns data, to be shown as text.
 * @param data anything
 */
export const outputter = (data: Plain): Plain => data;

/**
 * Sets the return code of the call.
 * @param code the code
 */
export const retcode = (code = 42): boolean => {
  __context__.retcode = code;
  return true;
};

/**
 * The hash of a random number.
 * @param size the number is below this one
 * @param hash_type which hash
 */
export const random_hash = (
  size = 9_999_999_999,
  hash_type: string = String(__opts__.hash_type ?? 'sha256'),
): string => {
  if (!getHashes().includes(hash_type))
    throw new SaltInvocationError(`There is no hash named '${hash_type}' here.`);
  return createHash(hash_type)
    .update(String(Number(size) > 0 ? randomInt(Number(size)) : 0))
    .digest('hex');
};

/** The older name of `random_hash`. */
export const rand_str = random_hash;

/**
 * Throws.
 * @param message the message
 */
export const exception = (message = 'Test Exception'): never => {
  throw new Error(message);
};

/**
 * Throws an error by the name of its class.
 * @param name `CommandExecutionError`, `SaltInvocationError` (also with `salt.exceptions.` before it) or any other
 * @param args the message
 */
export const raise_exception = (name: string, ...args: Plain[]): never => {
  const message = args.map(String).join(' ');
  const short = name.replace(/^salt\.exceptions\./, '');
  if (short === 'CommandExecutionError') throw new CommandExecutionError(message);
  if (short === 'SaltInvocationError') throw new SaltInvocationError(message);
  const error = new Error(message);
  error.name = short;
  throw error;
};

/**
 * Fails unless the value is true.
 * @param assertion the value
 */
export const assertion = (assertion: Plain): null => {
  const isEmpty = typeof assertion === 'object' && Object.keys(assertion ?? {}).length === 0;
  if (!assertion || isEmpty) throw new CommandExecutionError('The assertion does not hold.');
  return null;
};

/** Not done here: commands reach terminals by `cmd.tty`. */
export const tty = (..._args: unknown[]): never =>
  notDone('test.tty', 'it is cmd.tty that writes to a terminal');

/** The stack of the call. */
export const stack = (): string => new Error('stack').stack ?? '';
