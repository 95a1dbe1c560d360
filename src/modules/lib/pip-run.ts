import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../api.ts';
import { pyStr } from './python-text.ts';
import { runCommand } from './run-command.ts';
import { repackDictList, toList } from './values.ts';
import { which } from './which.ts';

export type PipWhere = {
  bin_env?: string | null;
  user?: string | null;
  cwd?: string | null;
  env_vars?: Plain;
  use_vt?: boolean;
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

export const runPip = async (
  args: readonly string[],
  { bin_env, user, cwd, env_vars }: PipWhere,
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

/** What Salt's `pip.install` takes: how and from where pip installs. */
export type PipOptions = PipWhere & {
  requirements?: string | null;
  editable?: Plain;
  upgrade?: boolean;
  force_reinstall?: boolean;
  ignore_installed?: boolean;
  no_deps?: boolean;
  pre_releases?: boolean;
  index_url?: string | null;
  extra_index_url?: Plain;
  no_index?: boolean;
  find_links?: Plain;
  trusted_host?: Plain;
  no_cache_dir?: boolean;
  cache_dir?: string | null;
  target?: string | null;
  timeout?: number | null;
  proxy?: string | null;
  no_binary?: Plain;
  only_binary?: Plain;
  exists_action?: string | null;
  extra_args?: Plain;
  log?: string | null;
  source?: string | null;
  cert?: string | null;
  global_options?: Plain;
} & GoneOptions;

/** Arguments that stood for options which pip no longer has: refused. */
type GoneOptions = {
  use_wheel?: Plain;
  no_use_wheel?: Plain;
  mirrors?: Plain;
  build?: Plain;
  download?: Plain;
  download_cache?: Plain;
  no_install?: Plain;
  no_download?: Plain;
  install_options?: Plain;
  allow_all_external?: Plain;
  allow_external?: Plain;
  allow_unverified?: Plain;
  process_dependency_links?: Plain;
};

/** What to use instead. */
const gone: { [name in keyof GoneOptions]-?: string } = {
  use_wheel: 'use only_binary',
  no_use_wheel: 'use no_binary',
  mirrors: 'use index_url',
  build: 'set TMPDIR in env_vars',
  download: 'run pip download by cmd.run',
  download_cache: 'use cache_dir',
  no_install: 'run pip download by cmd.run',
  no_download: 'use no_index and find_links',
  install_options: 'use global_options',
  allow_all_external: 'use find_links',
  allow_external: 'use find_links',
  allow_unverified: 'use find_links',
  process_dependency_links: 'name the packages by their addresses',
};

/** What pip is to install with, as words and as variables. */
export const installWords = (options: PipOptions): { words: string[]; secrets: Env } => {
  for (const [name, instead] of Object.entries(gone))
    if (options[name as keyof GoneOptions])
      throw new SaltInvocationError(`pip has no option for ${name} any more: ${instead}.`);
  const flag = (isOn: boolean | undefined, name: string): string[] => (isOn ? [name] : []);
  const value = (name: string, given: unknown): string[] =>
    given === null || given === undefined || given === '' ? [] : [`${name}=${given}`];
  const { words, secrets } = addressesOf(options);
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
      ...value('--cache-dir', options.cache_dir),
      ...value('--target', options.target),
      ...value('--timeout', options.timeout),
      ...value('--no-binary', toList(options.no_binary).join(',')),
      ...value('--only-binary', toList(options.only_binary).join(',')),
      ...value('--exists-action', options.exists_action),
      ...value('--log', options.log),
      ...value('--src', options.source),
      ...value('--cert', options.cert),
      ...toList(options.global_options).flatMap(one => value('--global-option', one)),
      ...toList(options.extra_args),
    ],
  };
};

/**
 * Where pip is to look, as options. Addresses with a password go through the environment: everybody
 * on the host sees the options of a process.
 */
export const addressesOf = (options: PipOptions): { words: string[]; secrets: Env } => {
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

export const toRequirements = (pkgs: string | string[] | null): string[] => {
  const list = Array.isArray(pkgs) ? pkgs : pkgs ? pkgs.split(/,(?=\s*[A-Za-z])/) : [];
  const bad = list.find(one => one.trim().startsWith('-'));
  if (bad)
    throw new SaltInvocationError(`Not a requirement: "${bad}". Options go into extra_args.`);
  return list.map(one => one.trim()).filter(one => one !== '');
};
