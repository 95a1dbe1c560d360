/**
 * Rubies and gemsets by RVM, of an account (`~/.rvm`) or of the whole system (`/usr/local/rvm`).
 * Every function returns false when rvm is missing or fails.
 *
 * @platform linux
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { splitCommandArgs } from '../../_shared/text/command-args.ts';
import { CommandExecutionError, type Plain } from '../../api.ts';
import { type RvmWhere, runRvm, rvmPath } from '../rvm-run.ts';

const installer = 'https://raw.githubusercontent.com/rvm/rvm/master/binscripts/rvm-installer';

type Answer = Promise<string | false>;

const inRuby = (
  ruby: string | null | undefined,
  words: readonly string[],
  where: RvmWhere,
): Answer => runRvm([ruby || 'default', 'do', ...words], where);

/**
 * Whether RVM is installed.
 *
 * @param runas the account
 * @example tsalt-ssh '*' rvm.is_installed
 */
export const is_installed = async (runas: string | null = null): Promise<boolean> =>
  rvmPath(runas) !== undefined;

/**
 * Installs RVM for the whole system, or an account, by its own installer.
 *
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.install
 */
export const install = async (runas: string | null = null): Promise<true> => {
  const as = runas ? { runas } : {};
  const fetched = await runCommand(['curl', '-fLsS', installer], as);
  const done =
    fetched.code === 0
      ? await runCommand(['bash', '-s', 'stable'], { ...as, stdin: fetched.stdout })
      : fetched;
  if (done.code !== 0)
    throw new CommandExecutionError(
      `Error encountered while downloading the RVM installer: ${done.stderr.trim()}`,
    );
  return true;
};

/**
 * Installs a ruby.
 *
 * @param ruby the ruby, as `ruby-3.2.2` or `jruby`
 * @param runas the account to run as: other than root it gets no packages (`autolibs disable`)
 * @param opts further options for rvm
 * @param env variables for rvm
 * @example tsalt-ssh '*' rvm.install_ruby 3.2.2
 */
export const install_ruby = async (
  ruby: string,
  runas: string | null = null,
  { opts = null, env = null }: { opts?: string[] | null; env?: Plain } = {},
): Answer => {
  const options = [...(opts ?? [])];
  if (runas && runas !== 'root') {
    await runRvm(['autolibs', 'disable', ruby, ...options], { runas });
    options.push('--disable-binary');
  }
  return runRvm(['install', ruby, ...options], { runas, env });
};

/**
 * Installs a ruby again.
 *
 * @param ruby the ruby
 * @param runas the account to run as
 * @param env variables for rvm
 * @example tsalt-ssh '*' rvm.reinstall_ruby 3.2.2
 */
export const reinstall_ruby = async (
  ruby: string,
  runas: string | null = null,
  { env = null }: { env?: Plain } = {},
): Answer => runRvm(['reinstall', ruby], { runas, env });

/**
 * The rubies: `[implementation, version, whether it is the default]` of each.
 *
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.list
 */
export const list_ = async (
  runas: string | null = null,
): Promise<[implementation: string, version: string, isDefault: boolean][]> =>
  [
    ...((await runRvm(['list'], { runas })) || '').matchAll(
      /^[= ]([*> ]) ([^\s-]+)-(\S+) \[ .* \]/gm,
    ),
  ].map(([, mark, implementation = '', version = '']) => [implementation, version, mark === '*']);

export const __func_alias__ = { list_: 'list', do_: 'do' };

/**
 * Makes a ruby the default.
 *
 * @param ruby the ruby
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.set_default 3.2.2
 */
export const set_default = async (ruby: string, runas: string | null = null): Answer =>
  runRvm(['alias', 'create', 'default', ruby], { runas });

/**
 * Brings RVM itself to a version.
 *
 * @param version `stable`, `head` or a version
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.get
 */
export const get = async (version = 'stable', runas: string | null = null): Answer =>
  runRvm(['get', version], { runas });

/**
 * Makes programs that run those of a ruby.
 *
 * @param ruby_string the ruby, or ruby and gemset
 * @param wrapper_prefix prefix of their names
 * @param runas the account to run as
 * @param binaries the programs
 * @example tsalt-ssh '*' rvm.wrapper 3.2.2 app
 */
export const wrapper = async (
  ruby_string: string,
  wrapper_prefix: string,
  runas: string | null = null,
  ...binaries: string[]
): Answer => runRvm(['wrapper', ruby_string, wrapper_prefix, ...binaries], { runas });

/**
 * Installs a version of RubyGems in a ruby.
 *
 * @param ruby the ruby
 * @param version the version
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.rubygems 3.2.2 3.4.10
 */
export const rubygems = async (
  ruby: string,
  version: string,
  runas: string | null = null,
): Answer => inRuby(ruby, ['rubygems', version], { runas });

/**
 * Makes a gemset.
 *
 * @param ruby the ruby
 * @param gemset the gemset
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_create 3.2.2 app
 */
export const gemset_create = async (
  ruby: string,
  gemset: string,
  runas: string | null = null,
): Answer => inRuby(ruby, ['rvm', 'gemset', 'create', gemset], { runas });

/**
 * The gemsets of a ruby.
 *
 * @param ruby the ruby
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_list
 */
export const gemset_list = async (
  ruby = 'default',
  runas: string | null = null,
): Promise<string[]> =>
  [
    ...((await inRuby(ruby, ['rvm', 'gemset', 'list'], { runas })) || '').matchAll(
      /^ {3}([^ \n]+)/gm,
    ),
  ].map(found => found[1] ?? '');

/**
 * Removes a gemset.
 *
 * @param ruby the ruby
 * @param gemset the gemset
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_delete 3.2.2 app
 */
export const gemset_delete = async (
  ruby: string,
  gemset: string,
  runas: string | null = null,
): Answer => inRuby(ruby, ['rvm', '--force', 'gemset', 'delete', gemset], { runas });

/**
 * Removes all gems of a gemset.
 *
 * @param ruby the ruby
 * @param gemset the gemset
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_empty 3.2.2 app
 */
export const gemset_empty = async (
  ruby: string,
  gemset: string,
  runas: string | null = null,
): Answer => inRuby(ruby, ['rvm', '--force', 'gemset', 'empty', gemset], { runas });

/**
 * Copies the gems of a gemset into another.
 *
 * @param source the gemset, as `3.2.2@app`
 * @param destination the other
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_copy 3.2.2@app 3.2.2@test
 */
export const gemset_copy = async (
  source: string,
  destination: string,
  runas: string | null = null,
): Answer => runRvm(['gemset', 'copy', source, destination], { runas });

/**
 * The gemsets by ruby.
 *
 * @param runas the account to run as
 * @example tsalt-ssh '*' rvm.gemset_list_all
 */
export const gemset_list_all = async (
  runas: string | null = null,
): Promise<{ [ruby: string]: string[] }> => {
  const all: { [ruby: string]: string[] } = {};
  let gemsets: string[] = [];
  const told = (await inRuby('default', ['rvm', 'gemset', 'list_all'], { runas })) || '';
  for (const line of told.split('\n')) {
    const ruby = /^gemsets for (\S+)/.exec(line)?.[1];
    if (ruby !== undefined) {
      gemsets = [];
      all[ruby] = gemsets;
    }
    const gemset = /^ {3}(\S+)/.exec(line)?.[1];
    if (gemset !== undefined) gemsets.push(gemset);
  }
  return all;
};

/**
 * Runs a command in a ruby and returns its output.
 *
 * @param ruby the ruby, or ruby and gemset; the default when empty
 * @param command the command
 * @param runas the account to run as
 * @param env variables for it
 * @example tsalt-ssh '*' rvm.do 3.2.2 'gem list'
 */
export const do_ = async (
  ruby: string | null,
  command: string | string[],
  runas: string | null = null,
  { cwd = null, env = null }: Omit<RvmWhere, 'runas'> = {},
): Answer =>
  inRuby(ruby, Array.isArray(command) ? command : splitCommandArgs(command), { runas, cwd, env });
