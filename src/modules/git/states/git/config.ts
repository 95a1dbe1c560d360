import { messageOf } from '../../../../protocol/error.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { isPathToCome, isUserToCome } from '../../../_shared/states/to-come.ts';
import { plainRepr, plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { gitMessage } from '../../git-comments.ts';
import { refuseEncoding } from '../../git-options.ts';

type Unused = {
  /** has no effect: only needed on Windows */
  password?: string | null;
  /** only UTF-8 output is supported; other encodings are refused */
  output_encoding?: string | null;
};

type ConfigOptions = Unused & {
  value?: string | number | boolean | null;
  multivar?: string | (string | number)[] | null;
  /** the repository */
  repo?: string | null;
  /** run git as this user */
  user?: string | null;
  /** the user's configuration instead of a repository's */
  global?: boolean;
};

const listOf = <T>(values: string | T[]): (string | T)[] =>
  typeof values === 'string' ? values.split(',') : values;

/** Whether an earlier state would create the repository or the account; only in test mode. */
const isToCome = (repo: string | null, user: string | null): boolean =>
  isPathToCome(repo) || isUserToCome(user);

/**
 * Manages a key of git's configuration with one value or several.
 *
 * @param name the key
 * @param value the value
 * @param multivar several values
 * @example
 * user.email:
 *   git.config_set:
 *     - value: ops@example.com
 *     - global: True
 */
export const config_set = async (
  name: string,
  {
    value = null,
    multivar = null,
    repo = null,
    user = null,
    password: _password = null,
    output_encoding = null,
    global = false,
  }: ConfigOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (value !== null && multivar !== null)
    return failed(ret, "Only one of 'value' and 'multivar' is permitted");
  if (value === null && multivar === null)
    return failed(ret, "One of 'value' and 'multivar' is required");
  if (!global && repo === null)
    return failed(ret, "Non-global config options require the 'repo' argument to be set");
  const wanted = listOf(multivar ?? [value ?? '']).map(each => plainStr(each));
  const scope = { cwd: repo, user, global };
  const key = `${global ? 'Global key ' : ''}'${name}'`;
  try {
    refuseEncoding(output_encoding);
    const old: string[] = isToCome(repo, user)
      ? []
      : await __salt__['git.config_get_all']?.(name, scope);
    const text = plainRepr(multivar === null ? wanted[0] : wanted);
    if (old.length === wanted.length && old.every((each, index) => each === wanted[index]))
      return { ...ret, comment: `${key} is already set to ${text}` };
    const change = { old: old.length === 0 ? null : old, new: wanted };
    const what = old.length === 0 ? 'added as' : 'set to';
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        changes: change,
        comment: `${key} would be ${what} ${text}`,
      };
    try {
      await __salt__['git.config_set'](name, { ...scope, multivar: wanted });
    } catch (error) {
      const shown = `${global ? 'global key ' : ''}'${name}'`;
      return failed(ret, `Failed to set ${shown} to ${text}: ${gitMessage(error)}`);
    }
    return { ...ret, changes: { [name]: change }, comment: `${key} was ${what} ${text}` };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

type UnsetOptions = Pick<ConfigOptions, 'repo' | 'user' | 'global'> &
  Unused & { value_regex?: string | null; all?: boolean };

/**
 * Makes sure that keys are not in git's configuration.
 *
 * @param name the key, or a regular expression for the whole of a key
 * @param value_regex only values that match this regular expression
 * @param all true: also where a key has several values
 * @example
 * core.editor:
 *   git.config_unset:
 *     - global: True
 */
export const config_unset = async (
  name: string,
  {
    value_regex = null,
    repo = null,
    user = null,
    password: _password = null,
    output_encoding = null,
    all = false,
    global = false,
  }: UnsetOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!global && repo === null)
    return failed(ret, "Non-global config options require the 'repo' argument to be set");
  const scope = { cwd: repo, user, global };
  const key = `^${name.replace(/^\^+/, '').replace(/\$+$/, '')}$`;
  const matching = (regex: string | null): Promise<Record<string, string[]>> =>
    __salt__['git.config_get_regexp'](key, { ...scope, value_regex: regex });
  try {
    refuseEncoding(output_encoding);
    const found = isToCome(repo, user) ? {} : await matching(value_regex);
    if (Object.keys(found).length === 0) return { ...ret, comment: 'No matching keys are set' };
    const several = shownKeys(found, values => values.length > 1);
    if (!all && several !== '')
      return failed(
        ret,
        value_regex === null
          ? `Multivar(s) matched by the key expression (set 'all' to True to force removal): ${several}`
          : `Multiple values are matched by value_regex for the following keys (set 'all' to True to force removal): ${several}`,
      );
    if (__opts__.test)
      return {
        ...ret,
        result: null,
        changes: found,
        comment: `${Object.keys(found).length} key(s) would have value(s) unset`,
      };
    for (const each of Object.keys(found))
      await __salt__['git.config_unset'](each, { ...scope, value_regex, all });
    const left = await matching(value_regex);
    if (Object.keys(left).length > 0)
      return failed(ret, `Failed to unset value(s): ${shownKeys(left, () => true)}`);
    return { ...ret, changes: found, comment: 'Value(s) successfully unset' };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

const shownKeys = (
  found: Record<string, string[]>,
  isShown: (values: string[]) => boolean,
): string =>
  Object.entries(found)
    .filter(([, values]) => isShown(values))
    .map(([key, values]) => `${key} (${values.join(', ')})`)
    .join('; ');
