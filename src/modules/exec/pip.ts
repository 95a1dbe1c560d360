/**
 * Packages of Python.
 *
 * @platform all
 * @depends pip
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../api.ts';
import { pyStr } from '../lib/python-text.ts';
import { sameName } from '../lib/python-version.ts';
import { runCommand } from '../lib/run-command.ts';
import { repackDictList, toList } from '../lib/values.ts';
import { which } from '../lib/which.ts';

type Where = {
  bin_env?: string | null;
  user?: string | null;
  cwd?: string | null;
  env_vars?: Plain;
};

/** The pip of a virtual environment, a program, or the system's. */
const pipOf = (bin_env: string | null | undefined): [string, ...string[]] => {
  if (bin_env) {
    const python = ['bin/python3', 'bin/python'].map(one => join(bin_env, one)).find(existsSync);
    if (python) return [python, '-m', 'pip'];
    if (existsSync(bin_env) && statSync(bin_env).isFile())
      return /python[\d.]*$/.test(bin_env) ? [bin_env, '-m', 'pip'] : [bin_env];
    throw new CommandExecutionError(`Could not find a \`pip\` binary in ${bin_env}`);
  }
  const found = which('pip3') ?? which('pip');
  if (!found) throw new CommandExecutionError('Could not find a `pip` binary: install pip first.');
  return [found];
};

type Env = { [name: string]: string };

const run = async (
  args: readonly string[],
  { bin_env, user, cwd, env_vars }: Where,
  secrets: Env = {},
) => {
  const [program, ...first] = pipOf(bin_env);
  return runCommand([program, ...first, ...args], {
    plainLocale: true,
    ...(cwd ? { cwd } : {}),
    ...(user ? { runas: user } : {}),
    env: {
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
      ...Object.fromEntries(
        Object.entries(repackDictList(env_vars)).map(([name, value]) => [name, pyStr(value)]),
      ),
      ...secrets,
    },
  });
};

/**
 * The installed packages with their versions.
 *
 * @param prefix names that begin with this only
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param env_vars variables for pip
 * @example tsalt-ssh '*' pip.list bin_env=/srv/app/venv
 */
export const list = async (
  prefix: string | null = null,
  options: Where = {},
): Promise<{ [name: string]: string }> => {
  const { code, stdout, stderr } = await run(['list', '--format=json'], options);
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
export const version = async (bin_env: string | null = null): Promise<string> => {
  const { stdout } = await run(['--version'], { bin_env });
  return /^pip (\S+)/.exec(stdout)?.[1] ?? '';
};

/**
 * The installed packages as `name==version`.
 *
 * @param bin_env a virtual environment, or the path of a pip
 * @example tsalt-ssh '*' pip.freeze bin_env=/srv/app/venv
 */
export const freeze = async (options: Where = {}): Promise<string[]> => {
  const { code, stdout, stderr } = await run(['freeze'], options);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout.split('\n').filter(line => line !== '');
};

type InstallOptions = Where & {
  requirements?: string | null;
  editable?: string | null;
  upgrade?: boolean;
  force_reinstall?: boolean;
  ignore_installed?: boolean;
  no_deps?: boolean;
  pre_releases?: boolean;
  index_url?: string | null;
  extra_index_url?: string | null;
  no_index?: boolean;
  find_links?: Plain;
  trusted_host?: string | null;
  no_cache_dir?: boolean;
  cache_dir?: string | null;
  target?: string | null;
  timeout?: number | null;
  proxy?: string | null;
  no_binary?: Plain;
  only_binary?: Plain;
  exists_action?: string | null;
  extra_args?: Plain;
};

/**
 * Where pip is to look, as options. Addresses with a password go through the environment: everybody
 * on the host sees the options of a process.
 */
const addressesOf = (options: InstallOptions): { words: string[]; secrets: Env } => {
  const words: string[] = [];
  const secrets: Env = {};
  for (const name of ['index_url', 'extra_index_url', 'find_links', 'proxy'] as const) {
    const given = toList(options[name]);
    if (given.some(one => /^[\w+.-]+:\/\/[^/]*@/.test(one)))
      secrets[`PIP_${name.toUpperCase()}`] = given.join(' ');
    else words.push(...given.map(one => `--${name.replaceAll('_', '-')}=${one}`));
  }
  return { words, secrets };
};

/**
 * Installs packages: pid, retcode, stdout and stderr of pip.
 *
 * @param pkgs requirements, a list or a text with commas
 * @param requirements a requirements file on the host
 * @param editable a path or URL to install in place
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param upgrade true: newer versions where there are
 * @param force_reinstall true: install again what is there
 * @param ignore_installed true: do not look at what is there
 * @param no_deps true: without what it depends on
 * @param pre_releases true: pre-releases too
 * @param index_url the index
 * @param extra_index_url a further index
 * @param no_index true: no index, only `find_links`
 * @param find_links where to look besides
 * @param no_binary packages to build from source, or `:all:`
 * @param only_binary packages to take as wheels only, or `:all:`
 * @param exists_action pip's answer when a path is there: s, i, w, b
 * @param extra_args further options for pip
 * @example tsalt-ssh '*' pip.install 'flask>=2' bin_env=/srv/app/venv
 */
export const install = async (
  pkgs: string | string[] | null = null,
  options: InstallOptions = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const named = toRequirements(pkgs);
  const flag = (isOn: boolean | undefined, name: string): string[] => (isOn ? [name] : []);
  const value = (name: string, given: unknown): string[] =>
    given === null || given === undefined || given === '' ? [] : [`${name}=${given}`];
  const what = [
    ...(options.requirements ? ['-r', options.requirements] : []),
    ...(options.editable ? ['-e', options.editable] : []),
    ...named,
  ];
  if (what.length === 0) throw new SaltInvocationError('pip.install needs pkgs or requirements.');
  const { words, secrets } = addressesOf(options);
  const { code, stdout, stderr, pid } = await run(
    [
      'install',
      ...flag(options.upgrade, '--upgrade'),
      ...flag(options.force_reinstall, '--force-reinstall'),
      ...flag(options.ignore_installed, '--ignore-installed'),
      ...flag(options.no_deps, '--no-deps'),
      ...flag(options.pre_releases, '--pre'),
      ...flag(options.no_index, '--no-index'),
      ...flag(options.no_cache_dir, '--no-cache-dir'),
      ...words,
      ...value('--trusted-host', options.trusted_host),
      ...value('--cache-dir', options.cache_dir),
      ...value('--target', options.target),
      ...value('--timeout', options.timeout),
      ...value('--no-binary', toList(options.no_binary).join(',')),
      ...value('--only-binary', toList(options.only_binary).join(',')),
      ...value('--exists-action', options.exists_action),
      ...toList(options.extra_args),
      ...what,
    ],
    options,
    secrets,
  );
  return { pid, retcode: code, stdout, stderr };
};

const toRequirements = (pkgs: string | string[] | null): string[] => {
  const list = Array.isArray(pkgs) ? pkgs : pkgs ? pkgs.split(/,(?=\s*[A-Za-z])/) : [];
  const bad = list.find(one => one.trim().startsWith('-'));
  if (bad)
    throw new SaltInvocationError(`Not a requirement: "${bad}". Options go into extra_args.`);
  return list.map(one => one.trim()).filter(one => one !== '');
};

/**
 * Removes packages.
 *
 * @param pkgs names, a list or a text with commas
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @example tsalt-ssh '*' pip.uninstall flask bin_env=/srv/app/venv
 */
export const uninstall = async (
  pkgs: string | string[],
  options: Where = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const { code, stdout, stderr, pid } = await run(
    ['uninstall', '-y', ...toRequirements(pkgs)],
    options,
  );
  return { pid, retcode: code, stdout, stderr };
};

/**
 * Whether a package is installed.
 *
 * @param pkgname the package
 * @param bin_env a virtual environment, or the path of a pip
 * @example tsalt-ssh '*' pip.is_installed flask
 */
export const is_installed = async (pkgname: string, options: Where = {}): Promise<boolean> =>
  Object.keys(await list(null, options)).some(name => sameName(name, pkgname));
