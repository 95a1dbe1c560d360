/** Manages environment variables of this run. */
import { isPlainDict } from '../../../protocol/plain.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type Plain, type StateReturn } from '../../api.ts';

/**
 * Sets variables of the run's environment: for commands of later states.
 *
 * @param name the variable, or a name for the state when `value` is a dict
 * @param value its value, false, or a dict of variables
 * @param false_unsets false as a value unsets the variable
 * @param clear_all also clear all other variables
 * @param update_minion accepted for compatibility
 * @param permanent not supported here
 *
 * @example
 * http_proxy:
 *   environ.setenv:
 *     - value: http://proxy:3128
 */
export const setenv = async (
  name: string,
  value: Plain,
  {
    false_unsets = false,
    clear_all = false,
    update_minion = false,
    permanent = false,
  }: {
    false_unsets?: boolean;
    clear_all?: boolean;
    update_minion?: boolean;
    permanent?: boolean;
  } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (permanent) return failed(ret, "'permanent' is not supported: it is for Windows only");
  if (typeof value !== 'string' && value !== false && !isPlainDict(value))
    return failed(ret, 'Environ value must be string, dict or False');
  const wanted = isPlainDict(value) ? value : { [name]: value };
  const empty = Object.keys(wanted).find(key => wanted[key] === null);
  if (empty !== undefined)
    return failed(ret, `'${empty}' has no value: write '' or false to empty it.`);
  for (const [key, each] of Object.entries(wanted)) {
    const now: string | undefined = process.env[key];
    const next = each === false ? (false_unsets ? null : '') : String(each);
    if ((now ?? null) !== next && !(next === null && now === undefined)) ret.changes[key] = next;
  }
  if (clear_all)
    for (const key of Object.keys(process.env).filter(each => !Object.hasOwn(wanted, each)))
      if (false_unsets || process.env[key] !== '') ret.changes[key] = false_unsets ? null : '';
  const changed = Object.keys(ret.changes).length > 0;
  if (__opts__.test)
    return changed
      ? { ...ret, result: null, comment: 'Environ values will be changed' }
      : { ...ret, comment: 'Environ values are already set with the correct values' };
  if (!changed)
    return { ...ret, comment: 'Environ values were already set with the correct values' };
  await __salt__['environ.setenv'](wanted as Record<string, string>, false_unsets, clear_all, {
    update_minion,
  });
  return { ...ret, comment: 'Environ values were set' };
};
