/**
 * Packages of Python.
 *
 * @platform all
 * @depends pip
 */
import { CommandExecutionError } from '../../../api.ts';
import { type PipWhere, runPip } from '../../pip-run.ts';
import { sameName } from '../../python-version.ts';

/**
 * The installed packages with their versions.
 *
 * @param prefix names that begin with this only
 * @param env_vars variables for pip
 * @example tsalt-ssh '*' pip.list bin_env=/srv/app/venv
 */
export const list = async (
  prefix: string | null = null,
  options: PipWhere = {},
): Promise<{ [name: string]: string }> => {
  const { code, stdout, stderr } = await runPip(['list', '--format=json'], options);
  if (code !== 0) throw new CommandExecutionError(`pip list failed: ${stderr.trim()}`);
  const packages = JSON.parse(stdout) as { name: string; version: string }[];
  return Object.fromEntries(
    packages
      .filter(({ name }) => !prefix || name.toLowerCase().startsWith(prefix.toLowerCase()))
      .map(({ name, version }) => [name, version]),
  );
};

/**
 * The version of pip.
 *
 * @param bin_env a virtual environment, or the path of a pip
 * @example tsalt-ssh '*' pip.version
 */
export const version = async (
  bin_env: string | null = null,
  { cwd = null, user = null }: Pick<PipWhere, 'cwd' | 'user'> = {},
): Promise<string> => {
  const { code, stdout, stderr } = await runPip(['--version'], { bin_env, cwd, user });
  if (code !== 0)
    throw new CommandExecutionError(
      ['Could not find a `pip` binary', stderr.trim()].filter(part => part !== '').join(': '),
    );
  return /^pip (\S+)/.exec(stdout)?.[1] ?? '';
};

/**
 * The installed packages with their versions, the same as `pip.list`.
 *
 * @param prefix names that begin with this only
 * @example tsalt-ssh '*' pip.list_freeze_parse salt
 */
export const list_freeze_parse = async (prefix: string | null = null, options: PipWhere = {}) =>
  list(prefix, options);

/**
 * The installed packages as `name==version`.
 *
 * @example tsalt-ssh '*' pip.freeze bin_env=/srv/app/venv
 */
export const freeze = async ({
  bin_env = null,
  user = null,
  cwd = null,
  use_vt: _ = false,
  env_vars = null,
}: PipWhere = {}): Promise<string[]> => {
  const options = { bin_env, user, cwd, env_vars };
  const { code, stdout, stderr } = await runPip(['freeze', '--all'], options);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout.split('\n').filter(line => line !== '');
};

/**
 * Whether a package is installed.
 *
 * @param pkgname the package
 * @example tsalt-ssh '*' pip.is_installed flask
 */
export const is_installed = async (pkgname: string, options: PipWhere = {}): Promise<boolean> =>
  Object.keys(await list(null, options)).some(name => sameName(name, pkgname));
