/**
 * Packages of Ruby.
 *
 * @platform all
 * @depends gem
 */
import { CommandExecutionError } from '../api.ts';
import { runCommand } from '../lib/run-command.ts';

type Where = { gem_bin?: string | null; runas?: string | null };

const run = async (args: readonly string[], { gem_bin, runas }: Where): Promise<string> => {
  const { code, stdout, stderr } = await runCommand([gem_bin ?? 'gem', ...args], {
    plainLocale: true,
    cwd: '/',
    ...(runas ? { runas } : {}),
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return stdout;
};

/**
 * The installed gems: versions by name.
 *
 * @param prefix names that begin with this only
 * @param gem_bin the path of gem
 * @param runas the account to run as
 * @example tsalt-ssh '*' gem.list
 */
export const list = async (
  prefix = '',
  options: Where = {},
): Promise<{ [name: string]: string[] }> =>
  _parseGems(await run(['list', '--local', ...(prefix === '' ? [] : [`^${prefix}`])], options));

/** Lines of `name (1.2, default: 1.1)`. */
export const _parseGems = (text: string): { [name: string]: string[] } =>
  Object.fromEntries(
    [...text.matchAll(/^([^\s(]+) \(([^)]*)\)/gm)].map(([, name = '', versions = '']) => [
      name,
      versions.split(', ').map(one => one.replace(/^default: /, '').split(' ')[0] ?? ''),
    ]),
  );

/**
 * Installs gems and gives what gem said.
 *
 * @param gems names, a list or a text with commas
 * @param version the version
 * @param gem_bin the path of gem
 * @param runas the account to run as
 * @param rdoc true: with documentation
 * @param ri true: with ri documentation
 * @param pre_releases true: pre-releases too
 * @param proxy a proxy
 * @param source the place to fetch from
 * @example tsalt-ssh '*' gem.install redphone
 */
export const install = async (
  gems: string | string[],
  {
    version = null,
    rdoc = false,
    ri = false,
    pre_releases = false,
    proxy = null,
    source = null,
    gem_bin = null,
    runas = null,
  }: Where & {
    version?: string | null;
    rdoc?: boolean;
    ri?: boolean;
    pre_releases?: boolean;
    proxy?: string | null;
    source?: string | null;
  } = {},
): Promise<string> =>
  run(
    [
      'install',
      ...(version ? ['--version', version] : []),
      ...(rdoc || ri
        ? [`--document=${[...(rdoc ? ['rdoc'] : []), ...(ri ? ['ri'] : [])].join(',')}`]
        : ['--no-document']),
      ...(pre_releases ? ['--pre'] : []),
      ...(proxy ? ['--http-proxy', proxy] : []),
      ...(source ? ['--source', source] : []),
      ...namesOf(gems),
    ],
    { gem_bin, runas },
  );

/**
 * Removes gems with all their versions and gives what gem said.
 *
 * @param gems names, a list or a text with commas
 * @param gem_bin the path of gem
 * @param runas the account to run as
 * @example tsalt-ssh '*' gem.uninstall redphone
 */
export const uninstall = async (gems: string | string[], options: Where = {}): Promise<string> =>
  run(['uninstall', ...namesOf(gems), '-a', '-x'], options);

const namesOf = (gems: string | string[]): string[] => {
  const names = (Array.isArray(gems) ? gems : gems.split(',')).map(one => one.trim());
  const bad = names.find(one => !/^[A-Za-z0-9_][\w.-]*$/.test(one));
  if (bad !== undefined) throw new CommandExecutionError(`Not the name of a gem: "${bad}"`);
  return names;
};
