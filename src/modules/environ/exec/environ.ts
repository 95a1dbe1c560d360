/**
 * Manages the environment variables of this run, which states and commands inherit.
 *
 * @platform all
 */
import { log, type Plain, SaltInvocationError } from '../../api.ts';

type Values = Record<string, string | number | boolean | null>;

/**
 * Sets variables of this run's environment: for commands that it starts later.
 *
 * @param environ the variables with their values; false unsets or empties one
 * @param false_unsets false as a value unsets the variable
 * @param clear_all also clear all other variables
 * @param update_minion has no effect: the commands of this run see the variables always
 * @param permanent not supported here
 *
 * @example tsalt-ssh '*' environ.setenv '{"foo": "bar"}'
 */
export const setenv = async (
  environ: Values,
  false_unsets = false,
  clear_all = false,
  {
    update_minion: _update_minion = false,
    permanent = false,
  }: { update_minion?: boolean; permanent?: boolean } = {},
): Promise<Record<string, string | false | null>> => {
  if (permanent) throw new SaltInvocationError('permanent is only for Windows');
  const done: Record<string, string | false | null> = {};
  const others = clear_all
    ? Object.keys(process.env).filter(key => !Object.hasOwn(environ, key))
    : [];
  for (const key of others) done[key] = await setval(key, false, false_unsets);
  for (const [key, value] of Object.entries(environ))
    done[key] = await setval(key, value === false ? false : String(value ?? ''), false_unsets);
  return done;
};

/**
 * Sets one variable of this run's environment: its value, or false where that cannot be.
 *
 * @param key the variable
 * @param val its value; false unsets or empties it
 * @param false_unsets false unsets the variable
 * @param permanent not supported here
 *
 * @example tsalt-ssh '*' environ.setval foo bar
 */
export const setval = async (
  key: string,
  val: string | number | boolean,
  false_unsets = false,
  permanent: boolean | string = false,
): Promise<string | false | null> => {
  if (permanent) throw new SaltInvocationError('permanent is only for Windows');
  if (key === '' || /[=\0]/.test(key) || String(val).includes('\0')) {
    log.error(`The variable ${key} cannot be set: neither its name nor its value may be such`);
    return false;
  }
  if (val === false && false_unsets) {
    delete process.env[key];
    return null;
  }
  const value = val === false ? '' : String(val);
  process.env[key] = value;
  return value;
};

/**
 * Returns the value of a variable; `default` if it is not set.
 *
 * @param key the variable
 * @param default the value to return if it is not set
 *
 * @example tsalt-ssh '*' environ.get PATH
 */
export const get = async (
  key: string,
  { default: fallback = '' }: { default?: Plain } = {},
): Promise<Plain> => process.env[key] ?? fallback;

/**
 * Whether a variable is set, or has a value.
 *
 * @param key the variable
 * @param value the value
 *
 * @example tsalt-ssh '*' environ.has_value PATH
 */
export const has_value = async (key: string, value: string | null = null): Promise<boolean> =>
  value === null ? process.env[key] !== undefined : process.env[key] === value;

/**
 * Returns the values of variables; '' for those that are not set.
 *
 * @param keys the variables
 * @param default the value to return for variables that are not set
 *
 * @example tsalt-ssh '*' environ.item '[PATH, HOME]'
 */
export const item = async (
  keys: string | string[],
  { default: fallback = '' }: { default?: Plain } = {},
): Promise<Record<string, Plain>> =>
  Object.fromEntries([keys].flat().map(key => [key, process.env[key] ?? fallback]));

/**
 * Returns all variables with their values.
 *
 * @example tsalt-ssh '*' environ.items
 */
export const items = async (): Promise<Record<string, string>> =>
  Object.fromEntries(Object.entries(process.env).map(([key, value]) => [key, value ?? '']));
