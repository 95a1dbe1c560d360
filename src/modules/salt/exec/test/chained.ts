import { messageOf } from '../../../../protocol/error.ts';
import {
  __salt__,
  CommandExecutionError,
  kwargs as keywords,
  type Plain,
  untyped,
} from '../../../api.ts';

/** The option `test.foo` of the configuration. */
export const conf_test = (): Promise<Plain> => call('config.option')('test.foo');

/**
 * Calls another function by way of `__salt__`.
 * @param func its name
 * @param args its arguments
 */
export const cross_test = (func: string, args: Plain[] = []): Promise<Plain> => call(func)(...args);

/**
 * Calls a function; returns null when it throws.
 * @param module the function
 * @param return_try_exception return the message instead
 */
export const try_ = async (
  module: string,
  {
    return_try_exception = false,
    ...rest
  }: { return_try_exception?: boolean; [key: string]: Plain | undefined } = {},
): Promise<Plain> => {
  try {
    return (await call(module)(keywords(rest))) ?? null;
  } catch (error) {
    if (!return_try_exception) return null;
    return messageOf(error);
  }
};

const call = (name: string): ((...args: unknown[]) => Promise<Plain>) => {
  const fun = untyped(__salt__)[name];
  if (!fun) throw new CommandExecutionError(`'${name}' is not available.`);
  return fun;
};
