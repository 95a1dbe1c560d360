/**
 * Packages of Ruby.
 *
 * @platform all
 * @depends gem
 */

import { dirname, join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { hasPassword, redact } from '../../_shared/sources/url-login.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';
import { rvmPath, rvmUser } from '../rvm-run.ts';

type Where = {
  /** a ruby of RVM, or ruby and gemset; not with `gem_bin`. One of rbenv is not looked for */
  ruby?: string | null;
  /** the account to run as */
  runas?: string | null;
  /** the path of gem */
  gem_bin?: string | null;
};

/** As Salt has it for `install`. */
type GemWhere = { ruby?: string | null; gem_bin?: string | null; runas?: string | null };

// Runs gem with the words that it reads: everybody on the host sees those of a process.
const told = 'require \'rubygems/gem_runner\'; Gem::GemRunner.new.run(STDIN.read.split("\\0"))';

const rubyOf = (gem_bin: string | null | undefined): string => {
  const beside = gem_bin?.includes('/') ? join(dirname(gem_bin), 'ruby') : undefined;
  return beside && existsSync(beside) ? beside : 'ruby';
};

const run = async (args: readonly string[], { ruby, gem_bin, runas }: Where): Promise<string> => {
  const rvm = gem_bin ? undefined : rvmPath(await rvmUser(runas));
  if (ruby && !gem_bin && rvm === undefined)
    throw new SaltInvocationError(
      `gem finds ruby ${ruby} by RVM only, which is not installed: name its program in gem_bin.`,
    );
  const user = rvm === undefined ? runas : await rvmUser(runas);
  const options = { plainLocale: true, cwd: '/', ...(user ? { runas: user } : {}) };
  const within = rvm === undefined ? [] : [rvm, ruby || 'default', 'do'];
  const words = args.some(hasPassword)
    ? [...within, rubyOf(gem_bin), '-rrubygems', '-e', told]
    : [...within, gem_bin ?? 'gem', ...args];
  const { code, stdout, stderr } = await runCommand(words as [string, ...string[]], {
    ...options,
    ...(args.some(hasPassword) ? { stdin: args.join('\0') } : {}),
  });
  if (code !== 0) throw new CommandExecutionError(redact(stderr.trim() || stdout.trim()));
  return stdout.trimEnd();
};

/**
 * The installed gems: versions by name.
 *
 * @param prefix names that begin with this only
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
 * Installs gems and returns gem's output.
 *
 * @param gems names, a list or a text with commas
 * @param version the version
 * @param gem_bin the path of gem
 * @param ruby a ruby of RVM, or ruby and gemset; not with `gem_bin`. One of rbenv is not looked for
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
  options: GemWhere & {
    version?: string | null;
    rdoc?: boolean;
    ri?: boolean;
    pre_releases?: boolean;
    proxy?: string | null;
    source?: string | null;
  } = {},
): Promise<string> => {
  const { version, rdoc, ri, pre_releases, proxy, source, ...where } = options;
  const documents = [...(rdoc ? ['rdoc'] : []), ...(ri ? ['ri'] : [])].join(',');
  return run(
    [
      'install',
      ...(version ? ['--version', version] : []),
      documents === '' ? '--no-document' : `--document=${documents}`,
      ...(pre_releases ? ['--pre'] : []),
      ...(proxy ? ['--http-proxy', proxy] : []),
      ...(source ? ['--source', source] : []),
      ...namesOf(gems),
    ],
    where,
  );
};

/**
 * Removes gems with all their versions and returns gem's output.
 *
 * @param gems names, a list or a text with commas
 * @example tsalt-ssh '*' gem.uninstall redphone
 */
export const uninstall = async (gems: string | string[], options: Where = {}): Promise<string> =>
  run(['uninstall', ...namesOf(gems), '-a', '-x'], options);

/**
 * Brings gems to their newest version and returns gem's output.
 *
 * @param gems names, a list or a text with spaces
 * @example tsalt-ssh '*' gem.update vagrant
 */
export const update = async (gems: string | string[], options: Where = {}): Promise<string> =>
  run(['update', '--no-document', ...namesOf(gems)], options);

/**
 * Brings RubyGems itself to its newest version, or to one, and returns gem's output.
 *
 * @param version the version
 * @example tsalt-ssh '*' gem.update_system
 */
export const update_system = async (version = '', options: Where = {}): Promise<string> =>
  run(['update', '--system', ...(version === '' ? [] : [version])], options);

/**
 * The version of gem.
 *
 * @example tsalt-ssh '*' gem.version
 */
export const version = async (options: Where = {}): Promise<string> =>
  /^[.\d]+/m.exec(await run(['--version'], options))?.[0] ?? '';

/**
 * The gems that have a newer version, with it.
 *
 * @example tsalt-ssh '*' gem.list_upgrades
 */
export const list_upgrades = async (options: Where = {}): Promise<{ [name: string]: string }> =>
  Object.fromEntries(
    [...(await run(['outdated'], options)).matchAll(/^(\S+) \(\S+ < (\S+)\)/gm)].map(
      ([, name = '', newest = '']) => [name, newest],
    ),
  );

/**
 * The places that gems are fetched from.
 *
 * @example tsalt-ssh '*' gem.sources_list
 */
export const sources_list = async (options: Where = {}): Promise<string[]> =>
  (await run(['sources', '--list'], options))
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('*'));

/**
 * Adds a place to fetch gems from, and returns gem's output.
 *
 * @param source_uri its address
 * @example tsalt-ssh '*' gem.sources_add https://gems.example.com/
 */
export const sources_add = async (source_uri: string, options: Where = {}): Promise<string> =>
  redact(await run(['sources', '--add', source_uri], options));

/**
 * Takes away a place to fetch gems from, and returns gem's output.
 *
 * @param source_uri its address
 * @example tsalt-ssh '*' gem.sources_remove https://gems.example.com/
 */
export const sources_remove = async (source_uri: string, options: Where = {}): Promise<string> =>
  redact(await run(['sources', '--remove', source_uri], options));

const namesOf = (gems: string | string[]): string[] => {
  const names = (Array.isArray(gems) ? gems : gems.split(/[\s,]+/)).map(one => one.trim());
  // A gem's own file is named by its path, a version behind a colon.
  const bad = names.find(
    one => !/^(?:[A-Za-z0-9_][\w.-]*(?::[\w.-]+)?|[\w./][^\s:]*\.gem)$/.test(one),
  );
  if (bad !== undefined) throw new CommandExecutionError(`Not the name of a gem: "${bad}"`);
  return names;
};
