/**
 * Packages of Node.js.
 *
 * @platform all
 * @depends npm
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { environmentOf } from '../../_shared/states/values.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../api.ts';

type Where = {
  /** a project's folder; the whole system when not given */
  dir?: string | null;
  /** the account to run as */
  runas?: string | null;
  /** variables for npm */
  env?: Plain;
};

const npm = async (args: readonly string[], { dir, runas, env }: Where, more: Env = {}) =>
  runCommand(['npm', ...args], {
    plainLocale: true,
    live: ['install', 'uninstall', 'cache', 'ci'].includes(args[0] ?? ''),
    cwd: dir ?? '/',
    ...(runas ? { runas } : {}),
    env: {
      NO_UPDATE_NOTIFIER: '1',
      ...environmentOf(env),
      ...more,
    },
  });

type Env = { [name: string]: string };

/** npm works in `dir`, or on the packages of the whole system. */
const scopeOf = ({ dir }: Where): string[] => (dir ? [] : ['--global']);

/**
 * The installed packages: `{name: {version}}`.
 *
 * @param pkg only this one
 * @param depth with what they depend on, so many levels deep
 * @example tsalt-ssh '*' npm.list
 */
export const list = async (
  pkg: string | null = null,
  options: Where & { depth?: number } = {},
): Promise<PlainDict> => {
  const { depth = 0, ...where } = options;
  const only = pkg === null ? [] : ['--', pkg];
  const { stdout, stderr } = await npm(
    ['list', '--json', `--depth=${Number(depth)}`, ...scopeOf(where), ...only],
    where,
  );
  try {
    const { dependencies = {} } = JSON.parse(stdout) as { dependencies?: PlainDict };
    return dependencies;
  } catch {
    throw new CommandExecutionError(`npm list failed: ${stderr.trim()}`);
  }
};

/**
 * Installs packages and returns how many packages npm `added`, `changed` and `removed`.
 *
 * @param pkg a package, `name@version` or a URL
 * @param pkgs several of them
 * @param dir a project's folder; the whole system when not given. Without packages, all that the
 *   project needs
 * @param registry the registry
 * @param dry_run true: only report
 * @param silent taken, and of no effect
 * @example tsalt-ssh '*' npm.install coffee-script@1.0.1
 */
export const install = async (
  pkg: string | null = null,
  {
    pkgs = null,
    dir = null,
    runas = null,
    registry = null,
    env = null,
    dry_run = false,
    silent: _silent = true,
  }: Where & {
    pkgs?: string[] | null;
    registry?: string | null;
    dry_run?: boolean;
    silent?: boolean;
  } = {},
): Promise<PlainDict | string> => {
  const where = { dir, runas, env };
  const names = pkgs ?? (pkg === null ? [] : [pkg]);
  if (names.length === 0 && !where.dir)
    throw new SaltInvocationError('npm.install needs pkg, pkgs or dir.');
  // The registry's address may hold a password: everybody on the host sees arguments.
  const more: Env = registry ? { npm_config_registry: registry } : {};
  const words = [
    'install',
    '--json',
    '--no-fund',
    '--no-audit',
    ...(dry_run ? ['--dry-run'] : []),
    ...scopeOf(where),
  ];
  const said = checked(
    await npm([...words, ...(names.length > 0 ? ['--', ...names] : [])], where, more),
  );
  return objectIn(said) ?? said;
};

/** The object that npm ends with; lines of what it does, and of packages' own scripts, come before. */
const objectIn = (said: string): PlainDict | undefined => {
  try {
    return JSON.parse(said.slice(said.search(/^\{/m)));
  } catch {
    return undefined;
  }
};

/**
 * How many packages `npm install` would add, change and remove in a project.
 *
 * @param dir the project's folder
 * @param runas the account to run as
 * @param env variables for npm
 * @example tsalt-ssh '*' npm.outstanding /srv/app
 */
export const outstanding = async (
  dir: string,
  where: { runas?: string | null; env?: Plain } = {},
): Promise<{ added: number; changed: number; removed: number }> => {
  const words = ['install', '--no-fund', '--no-audit', '--dry-run', '--json'];
  const said = checked(await npm(words, { ...where, dir }));
  const { added, changed, removed } = (objectIn(said) ?? {}) as {
    [name in 'added' | 'changed' | 'removed']?: number;
  };
  return { added: added ?? 0, changed: changed ?? 0, removed: removed ?? 0 };
};

/**
 * The folder of npm's cache.
 *
 * @example tsalt-ssh '*' npm.cache_path
 */
export const cache_path = async (where: Omit<Where, 'dir'> = {}): Promise<string> =>
  checked(await npm(['config', 'get', 'cache'], where));

/**
 * Returns the keys of npm's cache, one per line.
 *
 * @param path only what belongs to this package, or `name@version`
 * @example tsalt-ssh '*' npm.cache_list
 */
export const cache_list = async (
  path: string | null = null,
  where: Omit<Where, 'dir'> = {},
): Promise<string> => checked(await npm(['cache', 'ls', ...(path ? ['--', path] : [])], where));

/**
 * Clears npm's cache, or takes a package from it.
 *
 * @param path the package
 * @param force true: npm clears the whole cache with it only
 * @example tsalt-ssh '*' npm.cache_clean force=True
 */
export const cache_clean = async (
  path: string | null = null,
  options: Omit<Where, 'dir'> & { force?: boolean } = {},
): Promise<boolean> => {
  const { force = false, ...where } = options;
  const keys = path ? (await cache_list(path, where)).split('\n').filter(key => key !== '') : [];
  if (path && keys.length === 0) return true;
  checked(await npm(['cache', 'clean', ...(force ? ['--force'] : []), '--', ...keys], where));
  return true;
};

/**
 * Removes a package; true when npm did.
 *
 * @param pkg the package
 * @example tsalt-ssh '*' npm.uninstall coffee-script
 */
export const uninstall = async (pkg: string, options: Where = {}): Promise<boolean> => {
  checked(
    await npm(['uninstall', '--no-fund', '--no-audit', ...scopeOf(options), '--', pkg], options),
  );
  return true;
};

const checked = ({
  code,
  stdout,
  stderr,
}: {
  code: number;
  stdout: string;
  stderr: string;
}): string => {
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return stdout.trim();
};
