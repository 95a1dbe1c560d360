import { basename, dirname, join } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { isDir, isExecutable } from '../_shared/files/file-paths.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { hasPassword, redactPasswords } from '../_shared/sources/url-login.ts';
import { configText } from '../_shared/states/config-option.ts';
import { environmentOf, toList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../api.ts';
import { type ExtraArgs, extraArgs } from './pip-extra.ts';
import { uninstallArgs } from './pip-gone.ts';

export type PipWhere = {
  /** a virtual environment, or the path of a pip */
  bin_env?: string | null;
  /** the account to run as */
  user?: string | null;
  /** the folder to run in */
  cwd?: string | null;
  env_vars?: Plain;
  /** taken, and of no effect */
  use_vt?: boolean;
};

/** The pip of a virtual environment, a program, or the system's. */
const pipOf = (bin_env: string | null | undefined): [string, ...string[]] => {
  if (bin_env) {
    if (isDir(bin_env)) {
      const python = ['bin/python3', 'bin/python', 'python3', 'python']
        .map(one => join(bin_env, one))
        .find(existsSync);
      if (python) return [python, '-m', 'pip'];
      throw new CommandExecutionError(`Could not find a pip binary in virtualenv ${bin_env}`);
    }
    if (isExecutable(bin_env))
      return basename(bin_env).includes('python') ? [bin_env, '-m', 'pip'] : [bin_env];
    throw new CommandExecutionError(`Access denied to ${bin_env}, could not find a pip binary`);
  }
  const found = which('pip3') ?? which('pip');
  if (!found) throw new CommandExecutionError('Could not find a `pip` binary: install pip first.');
  return [found];
};

type Env = { [name: string]: string };

export const runPip = async (
  args: readonly string[],
  { bin_env, user, cwd, env_vars }: PipWhere,
  secrets: Env = {},
) => {
  const [program, ...first] = pipOf(bin_env);
  if (env_vars && typeof env_vars !== 'object')
    throw new CommandExecutionError(`env_vars ${plainStr(env_vars)} is not a dictionary`);
  return runCommand([program, ...first, ...args], {
    plainLocale: true,
    live: ['install', 'uninstall', 'wheel', 'download'].includes(args[0] ?? ''),
    ...(cwd ? { cwd } : {}),
    ...(user ? { runas: user } : {}),
    env: {
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
      ...(bin_env && isDir(bin_env) ? { VIRTUAL_ENV: bin_env } : {}),
      ...environmentOf(env_vars),
      ...secrets,
    },
  });
};

/** The arguments of Salt's `pip.install`, in the same order: how pip installs, and from where. */
export type PipOptions = {
  requirements?: Plain;
  /** a virtual environment, or the path of a pip */
  bin_env?: string | null;
  /** for pip before 10 */
  use_wheel?: Plain;
  /** for pip before 10 */
  no_use_wheel?: Plain;
  /** a file that pip writes down what it does in */
  log?: string | null;
  /** a proxy; false: not the one of the configuration either */
  proxy?: string | false | null;
  /** seconds to wait for a server */
  timeout?: number | null;
  /** a path or URL to install in place */
  editable?: Plain;
  /** where to look besides */
  find_links?: Plain;
  /** the index */
  index_url?: string | null;
  /** a further index */
  extra_index_url?: Plain;
  /** true: no index, only `find_links` */
  no_index?: boolean;
  /** for pip before 7 */
  mirrors?: Plain;
  /** for pip before 21: a folder to build in */
  build?: Plain;
  target?: string | null;
  /** for pip before 10: a folder to download into instead */
  download?: Plain;
  /** older name of `cache_dir` */
  download_cache?: string | null;
  /** the folder for `editable` from a repository */
  source?: string | null;
  upgrade?: boolean;
  /** true: install again what is there */
  force_reinstall?: boolean;
  /** true: do not look at what is there */
  ignore_installed?: boolean;
  /** pip's answer when a path is there: s, i, w, b */
  exists_action?: string | null;
  /** true: without what it depends on */
  no_deps?: boolean;
  /** for pip before 7 */
  no_install?: Plain;
  /** for pip before 7 */
  no_download?: Plain;
  /** options for the packages' own setup */
  global_options?: Plain;
  /** for pip before 23.1: options for the packages' own setup */
  install_options?: Plain;
  /** the account to run as */
  user?: string | null;
  /** the folder to run in */
  cwd?: string | null;
  /** true: pre-releases too */
  pre_releases?: boolean;
  /** a file with the certificates to trust */
  cert?: string | null;
  /** for pip before 10 */
  allow_all_external?: Plain;
  /** for pip before 10 */
  allow_external?: Plain;
  /** for pip before 10 */
  allow_unverified?: Plain;
  /** for pip before 19 */
  process_dependency_links?: Plain;
  /** the environment of `salt://` files */
  saltenv?: string | null;
  /** variables for pip */
  env_vars?: Plain;
  /** taken, and of no effect */
  use_vt?: boolean;
  /** hosts that are trusted without a certificate */
  trusted_host?: Plain;
  /** true: keep nothing */
  no_cache_dir?: boolean;
  /**
   * further options for pip: texts, or `{--option: value}`; an address with a password reaches pip
   * by a variable
   */
  extra_args?: Plain;
  /** where pip keeps what it has fetched */
  cache_dir?: string | null;
  /** packages to build from source, or `:all:` */
  no_binary?: Plain;
  disable_version_check?: boolean;
  /** packages to take as wheels only, or `:all:` */
  only_binary?: Plain;
};

/** Converts options to pip's arguments and environment variables; the latter hold the secrets. */
export const installArgs = (options: PipOptions): { words: string[]; secrets: Env } => {
  checkOptions(options);
  const flag = (isOn: boolean | undefined, name: string): string[] => (isOn ? [name] : []);
  const value = (name: string, given: unknown): string[] =>
    given === null || given === undefined || given === '' ? [] : [`${name}=${given}`];
  const extra = extraArgs(options.extra_args);
  const { words, secrets } = addressesOf(options, extra.addresses);
  return {
    secrets,
    words: [
      ...flag(options.upgrade, '--upgrade'),
      ...flag(options.force_reinstall, '--force-reinstall'),
      ...flag(options.ignore_installed, '--ignore-installed'),
      ...flag(options.no_deps, '--no-deps'),
      ...flag(options.pre_releases, '--pre'),
      ...flag(options.no_index, '--no-index'),
      ...flag(options.no_cache_dir, '--no-cache-dir'),
      ...words,
      ...toList(options.trusted_host).flatMap(host => value('--trusted-host', host)),
      ...value('--cache-dir', options.download_cache ?? options.cache_dir),
      // As Salt has it, for who keeps a folder of packages beside the system's.
      ...value('--target', options.target ?? process.env.VENV_PIP_TARGET),
      ...value('--timeout', options.timeout),
      ...value('--no-binary', toList(options.no_binary).join(',')),
      ...value('--only-binary', toList(options.only_binary).join(',')),
      ...value('--exists-action', options.exists_action),
      ...value('--log', options.log),
      ...value('--src', options.source),
      ...value('--cert', options.cert),
      ...toList(options.global_options).flatMap(one => value('--global-option', one)),
      ...uninstallArgs(options),
      ...extra.words,
    ],
  };
};

const checkOptions = (options: PipOptions): void => {
  const { no_index, index_url, extra_index_url, exists_action, timeout, log } = options;
  const refuse = (reason: string): never => {
    throw new CommandExecutionError(redactPasswords(reason));
  };
  if (no_index && (index_url || toList(extra_index_url).length > 0))
    refuse("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.");
  const isAddress = (text: string): boolean => /^(?:https?|ftp|file):\/\/./.test(text);
  const address = [index_url ?? '', ...toList(extra_index_url)].find(one => one && !isAddress(one));
  if (address) refuse(`'${address}' is not a valid URL`);
  const link = toList(options.find_links).find(one => !isAddress(one) && !existsSync(one));
  if (link) refuse(`'${link}' is not a valid URL or path`);
  if (exists_action && !/^[siwb]$/i.test(exists_action))
    refuse(
      `The exists_action pip option only supports the values s, i, w, and b. '${exists_action}' is not valid.`,
    );
  if (timeout !== null && timeout !== undefined && !Number.isInteger(Number(timeout)))
    refuse(`'${timeout}' is not a valid timeout, must be an integer`);
  if (log && isDir(log)) refuse(`'${log}' is a directory. Use --log path_to_file`);
  if (log && !existsSync(dirname(log)))
    refuse(`Trying to create '${log}' but parent directory '${dirname(log)}' does not exist.`);
};

/**
 * Where pip is to look, as options. Addresses with a password go through the environment: everybody
 * on the host sees the options of a process.
 */
const addressesOf = (
  options: PipOptions,
  extra: ExtraArgs['addresses'],
): { words: string[]; secrets: Env } => {
  const words: string[] = [];
  const secrets: Env = {};
  for (const name of ['requirement', 'constraint'])
    if (extra[name]) secrets[`PIP_${name.toUpperCase()}`] = extra[name].join(' ');
  for (const name of ['index_url', 'extra_index_url', 'find_links', 'proxy'] as const) {
    const more = extra[name] ?? [];
    const isOne = name === 'index_url' || name === 'proxy';
    const given =
      isOne && more.length > 0 ? more.slice(-1) : [...toList(options[name] || null), ...more];
    if (given.some(hasPassword)) secrets[`PIP_${name.toUpperCase()}`] = given.join(' ');
    else words.push(...given.map(one => `--${name.replaceAll('_', '-')}=${one}`));
  }
  return { words, secrets };
};

/** The proxy of the configuration, unless one is given or `proxy` is false. */
export const withProxy = async (options: PipOptions): Promise<PipOptions> => {
  if (options.proxy || options.proxy === false) return options;
  const [host, port, name, password] = await Promise.all(
    ['host', 'port', 'username', 'password'].map(one => configText(`proxy_${one}`)),
  );
  if (!host || !port) return options;
  const login = name && password ? `${name}:${password}@` : '';
  return { ...options, proxy: `http://${login}${host}:${port}` };
};

export const toRequirements = (pkgs: string | string[] | null): string[] => {
  const list = Array.isArray(pkgs) ? pkgs : pkgs ? pkgs.split(/,(?=\s*[A-Za-z])(?![^[]*\])/) : [];
  const bad = list.find(one => one.trim().startsWith('-'));
  if (bad)
    throw new SaltInvocationError(
      `Not a requirement: "${redactPasswords(bad)}". Options go into extra_args.`,
    );
  return list.map(one => one.trim()).filter(one => one !== '');
};
