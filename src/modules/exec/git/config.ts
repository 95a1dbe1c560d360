import { type Common, git, plainWord } from '../../lib/git-run.ts';

type ConfigOptions = Common & { cwd?: string | null; global?: boolean };

const configScope = ({ global, cwd, user }: ConfigOptions) => ({
  flags: [global ? '--global' : '--local'],
  options: { cwd: global ? '/' : (cwd ?? undefined), user },
});

/**
 * All values of a key of git's configuration.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_get_all user.name global=True
 */
export const config_get_all = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<string[]> => {
  const { flags, options } = configScope({ cwd, global, user });
  const { code, stdout } = await git(['config', ...flags, '--get-all', plainWord(key, 'key')], {
    ...options,
    ignore: true,
  });
  return code === 0 ? stdout.replace(/\n$/, '').split('\n') : [];
};

/**
 * The value of a key of git's configuration; null when it has none.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_get user.name cwd=/srv/app
 */
export const config_get = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<string | null> => (await config_get_all(key, { cwd, global, user })).at(-1) ?? null;

/**
 * Gives a key of git's configuration one value or several. Gives what it has then.
 *
 * @param key the key
 * @param value the value
 * @param multivar several values
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_set user.name Anna cwd=/srv/app
 */
export const config_set = async (
  key: string,
  {
    value = null,
    multivar = null,
    cwd = null,
    global = false,
    user = null,
  }: ConfigOptions & {
    value?: string | number | boolean | null;
    multivar?: (string | number)[] | null;
  } = {},
): Promise<string[]> => {
  const { flags, options } = configScope({ cwd, global, user });
  const values = (multivar ?? [value ?? '']).map(String);
  const [first = '', ...rest] = values;
  await git(['config', ...flags, '--replace-all', plainWord(key, 'key'), first], options);
  for (const each of rest) await git(['config', ...flags, '--add', key, each], options);
  return config_get_all(key, { cwd, global, user });
};

/**
 * Takes a key from git's configuration.
 *
 * @param key the key
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 * @param value_regex only values that match this regular expression
 * @param all false: fail where it has several values
 *
 * @example tsalt-ssh '*' git.config_unset core.editor cwd=/srv/app
 */
export const config_unset = async (
  key: string,
  {
    cwd = null,
    global = false,
    user = null,
    value_regex = null,
    all = true,
  }: ConfigOptions & { value_regex?: string | null; all?: boolean } = {},
): Promise<boolean> => {
  const { flags, options } = configScope({ cwd, global, user });
  const values = value_regex === null ? [] : [plainWord(value_regex, 'value_regex')];
  const how = all ? '--unset-all' : '--unset';
  await git(['config', ...flags, how, plainWord(key, 'key'), ...values], options);
  return true;
};

/**
 * Keys of git's configuration that match a regular expression, with all their values.
 *
 * @param key the regular expression
 * @param value_regex only values that match this one
 * @param cwd the repository
 * @param global the user's configuration instead
 * @param user run as this user
 *
 * @example tsalt-ssh '*' git.config_get_regexp '^user\.' global=True
 */
export const config_get_regexp = async (
  key: string,
  {
    value_regex = null,
    cwd = null,
    global = false,
    user = null,
  }: ConfigOptions & { value_regex?: string | null } = {},
): Promise<Record<string, string[]>> => {
  const { flags, options } = configScope({ cwd, global, user });
  const words = [key, ...(value_regex === null ? [] : [value_regex])];
  const { code, stdout } = await git(
    [
      'config',
      ...flags,
      '--null',
      '--get-regexp',
      ...words.map(word => plainWord(word, 'pattern')),
    ],
    { ...options, ignore: true },
  );
  const found: Record<string, string[]> = {};
  for (const entry of code === 0 ? stdout.split('\0').filter(text => text !== '') : []) {
    const [name = '', ...value] = entry.split('\n');
    found[name] = [...(found[name] ?? []), value.join('\n')];
  }
  return found;
};
