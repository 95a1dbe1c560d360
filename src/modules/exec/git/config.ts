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
 *
 * @example tsalt-ssh '*' git.config_unset core.editor cwd=/srv/app
 */
export const config_unset = async (
  key: string,
  { cwd = null, global = false, user = null }: ConfigOptions = {},
): Promise<boolean> => {
  const { flags, options } = configScope({ cwd, global, user });
  await git(['config', ...flags, '--unset-all', plainWord(key, 'key')], options);
  return true;
};
