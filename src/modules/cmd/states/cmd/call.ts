import { isPlainDict } from '../../../../protocol/plain.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import type { Plain, PlainDict, StateReturn } from '../../../api.ts';

type CallArguments = {
  func: (...args: unknown[]) => unknown;
  args?: Plain[];
  kws?: PlainDict | null;
  stateful?: Plain;
  output_loglevel?: string;
  hide_output?: boolean;
  use_vt?: boolean;
};

/**
 * Calls a function that a custom module passes in; its answer is the result.
 *
 * @param name any name
 * @param func the function; an SLS cannot contain one
 * @param args its arguments
 * @param kws its keyword arguments, passed as a last object
 * @param stateful has no effect
 * @param output_loglevel has no effect: no command runs
 * @param hide_output has no effect
 * @param use_vt has no effect
 * @unknown ignored
 */
export const call = async (
  name: string,
  { func, args = [], kws = null }: CallArguments,
): Promise<StateReturn> => {
  const refused = noFunction(name, func);
  if (refused) return refused;
  const answer = (await func(...args, ...(kws ? [kws] : []))) as Plain | undefined;
  if (isPlainDict(answer)) return { ...failed(name, ''), ...answer };
  return {
    name,
    changes: { retval: answer ?? null },
    result: answer === null || answer === undefined ? true : Boolean(answer),
    comment: typeof answer === 'string' ? answer : '',
  };
};

/**
 * Calls a function only when something that it watches has changed. See `cmd.call`.
 *
 * @param name any name
 * @param func the function
 * @unknown ignored
 */
export const wait_call = async (name: string, { func }: CallArguments): Promise<StateReturn> =>
  noFunction(name, func) ?? newReturn(name);

const noFunction = (name: string, func: unknown): StateReturn | undefined =>
  typeof func === 'function'
    ? undefined
    : failed(
        name,
        'cmd.call needs a function in "func": an SLS cannot hold one, a custom module can pass it.',
      );
