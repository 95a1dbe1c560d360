import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { type Base, runOptions } from '../../git-options.ts';
import { type GitOptions, git, plainArg } from '../../git-run.ts';

type ConfigOptions = {
  /** the repository */
  cwd?: string | null;
} & Base & {
    /** use the user's configuration instead */
    global?: boolean;
  };

const scope = ({ global, cwd, ...options }: ConfigOptions): { flag: string; how: GitOptions } => {
  if (!cwd && !global) throw new SaltInvocationError("'cwd' argument required unless global=True");
  return {
    flag: global ? '--global' : '--local',
    how: { ...runOptions(global ? '/' : (cwd ?? '/'), options), ignore: true },
  };
};

type All = {
  /** return all values as a list, or unset each one */
  all?: boolean;
};

/**
 * Returns all values of a key of git's configuration.
 *
 * @param key the key
 *
 * @example tsalt-ssh '*' git.config_get_all user.name global=True
 */
export const config_get_all = async (
  key: string,
  options: ConfigOptions = {},
): Promise<string[]> => {
  const { flag, how } = scope(options);
  const { code, stdout } = await git(['config', flag, '--get-all', plainArg(key, 'key')], how);
  return code === 0 ? stdout.replace(/\n$/, '').split('\n') : [];
};

/**
 * Returns the value of a key of git's configuration; null if it has none.
 *
 * @param key the key
 *
 * @example tsalt-ssh '*' git.config_get user.name cwd=/srv/app
 */
export const config_get = async (
  key: string,
  { cwd = null, user = null, ...given }: ConfigOptions & All = {},
): Promise<string | string[] | null> => {
  const { all = false, ...options } = given;
  const values = await config_get_all(key, { cwd, user, ...options });
  return all && values.length > 0 ? values : (values.at(-1) ?? null);
};

/**
 * Returns the keys that match, with their values.
 *
 * @param key a regular expression for keys
 * @param value_regex a regular expression for values
 *
 * @example tsalt-ssh '*' git.config_get_regexp '^user\.' global=True
 */
export const config_get_regexp = async (
  key: string,
  {
    value_regex = null,
    cwd = null,
    user = null,
    ...options
  }: { value_regex?: string | null } & ConfigOptions = {},
): Promise<Record<string, string[]>> => {
  const { flag, how } = scope({ cwd, user, ...options });
  const words = [plainArg(key, 'key'), ...(value_regex === null ? [] : [value_regex])];
  const { stdout } = await git(['config', flag, '--null', '--get-regexp', ...words], how);
  const found: Record<string, string[]> = {};
  for (const entry of stdout.split('\0').filter(Boolean)) {
    const [name = '', ...value] = entry.split('\n');
    found[name] = [...(found[name] ?? []), value.join('\n')];
  }
  return found;
};

/** Alias of `git.config_get_regexp`. */
export const config_get_regex = config_get_regexp;

/**
 * Sets a key of git's configuration to one value or several. Returns the resulting values.
 *
 * @param key the key
 * @param value the value
 * @param multivar several values, as a list or separated by commas
 *
 * @example tsalt-ssh '*' git.config_set user.name Anna cwd=/srv/app
 */
export const config_set = async (
  key: string,
  {
    value = null,
    multivar = null,
    cwd = null,
    user = null,
    ...given
  }: {
    value?: string | number | boolean | null;
    multivar?: string | (string | number)[] | null;
  } & ConfigOptions & {
      /** add the value to the existing ones */
      add?: boolean;
    } = {},
): Promise<string[]> => {
  const { add = false, ...options } = given;
  if (value !== null && multivar !== null)
    throw new SaltInvocationError("Only one of 'value' and 'multivar' is permitted");
  const { flag, how } = scope({ cwd, user, ...options });
  const name = plainArg(key, 'key');
  const [first = '', ...rest] = value === null ? toList(multivar) : [String(value)];
  const write = async (kind: string, each: string): Promise<void> => {
    await git(['config', flag, kind, name, each], { ...how, ignore: false });
  };
  await write(add && value !== null ? '--add' : '--replace-all', first);
  for (const each of rest) await write('--add', each);
  return config_get_all(key, { cwd, user, ...options });
};

/**
 * Removes a key from git's configuration.
 *
 * @param key the key
 * @param value_regex only values that match
 *
 * @example tsalt-ssh '*' git.config_unset core.editor cwd=/srv/app
 */
export const config_unset = async (
  key: string,
  {
    value_regex = null,
    cwd = null,
    user = null,
    ...given
  }: { value_regex?: string | null } & ConfigOptions & All = {},
): Promise<boolean> => {
  const { all = false, ...options } = given;
  const { flag, how } = scope({ cwd, user, ...options });
  const words = [plainArg(key, 'key'), ...(value_regex === null ? [] : [value_regex])];
  const { code, stderr } = await git(
    ['config', flag, all ? '--unset-all' : '--unset', ...words],
    how,
  );
  if (code === 0) return true;
  const isThere = (await config_get_all(key, { cwd, user, ...options })).length > 0;
  const matching = value_regex === null ? '' : ' and value_regex matches multiple values';
  const reasons: Record<number, string> = {
    1: 'Section or key is invalid',
    5: isThere
      ? `Multiple values exist for key '${key}'${matching}`
      : `Key '${key}' does not exist`,
    6: 'The value_regex is invalid',
  };
  throw new CommandExecutionError(
    reasons[code] ??
      `Failed to unset key '${key}', git config returned exit code ${code}; ${stderr.trim()}`,
  );
};
