/** Virtual environments of Python, and what is installed in them. */

import { dirname, isAbsolute, join } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { isFile } from '../../_shared/files/file-paths.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { __env__, __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';
import type { PipOptions } from '../pip-run.ts';

export const __virtualname__ = 'virtualenv';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('virtualenv.create')
    ? __virtualname__
    : [false, 'neither virtualenv nor python3 is installed.'];

/** Options that are passed on to pip unchanged. */
type PassedOn = Pick<
  PipOptions,
  | 'editable'
  | 'find_links'
  | 'no_index'
  | 'trusted_host'
  | 'only_binary'
  | 'log'
  | 'timeout'
  | 'cert'
  | 'source'
  | 'force_reinstall'
  | 'global_options'
  | 'install_options'
  | 'extra_args'
>;

type Options = PassedOn & {
  venv_bin?: string | null;
  requirements?: string | null;
  system_site_packages?: boolean;
  distribute?: boolean;
  use_wheel?: boolean;
  clear?: boolean;
  python?: string | null;
  extra_search_dir?: string | string[] | null;
  never_download?: boolean | null;
  prompt?: string | null;
  user?: string | null;
  cwd?: string | null;
  index_url?: string | null;
  extra_index_url?: string | null;
  pre_releases?: boolean;
  no_deps?: boolean;
  pip_download?: string | null;
  pip_download_cache?: string | null;
  pip_exists_action?: string | null;
  pip_ignore_installed?: boolean;
  proxy?: string | false | null;
  use_vt?: boolean;
  env_vars?: PlainDict | null;
  no_use_wheel?: boolean;
  pip_upgrade?: boolean;
  pip_pkgs?: string | string[] | null;
  pip_no_cache_dir?: boolean;
  pip_cache_dir?: string | null;
  process_dependency_links?: boolean;
  no_binary?: string | string[] | null;
  pip?: boolean;
  symlinks?: boolean | null;
  upgrade?: boolean | null;
  env?: Plain;
};

/**
 * A virtual environment is there; with `requirements` or `pip_pkgs` these are installed in it.
 *
 * @param name where it is
 * @param venv_bin `virtualenv`, or `venv` for Python's own; what is there when left out
 * @param requirements a requirements file, `salt://…` or on the host
 * @param system_site_packages the system's packages are seen too
 * @param clear empty and recreate it in every run
 * @param python the Python it is made of
 * @param extra_search_dir folders with further wheels (virtualenv)
 * @param never_download use no index (virtualenv)
 * @param prompt shown by the shell
 * @param user the account to run as
 * @param cwd the folder pip runs in
 * @param index_url the index
 * @param extra_index_url a further index
 * @param pre_releases pre-releases too
 * @param no_deps without what packages depend on
 * @param pip_exists_action pip's answer when a path is there: s, i, w, b
 * @param pip_ignore_installed do not look at what is there
 * @param pip_upgrade newer versions where there are
 * @param pip_pkgs packages to install
 * @param pip_no_cache_dir use no cache
 * @param pip_cache_dir the cache
 * @param pip_download for pip before 10: a folder to download into instead
 * @param pip_download_cache the cache, by its older name
 * @param process_dependency_links for pip before 19
 * @param use_wheel for pip before 10
 * @param no_use_wheel for pip before 10
 * @param proxy for pip
 * @param env_vars variables for pip
 * @param no_binary packages to build from source, or `:all:`
 * @param find_links where pip looks besides
 * @param timeout seconds that pip waits for a server
 * @param pip taken, and of no effect: the programs install pip
 * @param distribute refused: setuptools took its place
 * @param use_vt taken, and of no effect
 * @param env variables for the program that makes the environment
 * @param symlinks false: copy Python (venv)
 * @param upgrade renew it for a new Python (venv)
 * @unknown ignored
 * @example
 * /srv/app/venv:
 *   virtualenv.managed:
 *     - requirements: salt://app/requirements.txt
 *     - user: app
 */
export const managed = async (name: string, options: Options = {}): Promise<StateReturn> => {
  const python = join(name, 'bin/python');
  const exists = isFile(python);
  const { clear = false } = options;
  try {
    const requirements = await localFile(options.requirements ?? null);
    if (requirements === undefined)
      return failed(name, `pip requirements file '${options.requirements}' not found`);
    const answer = newReturn(name);
    if (exists && clear) {
      answer.changes.cleared_packages = await salt('pip.freeze')({ bin_env: name });
      answer.changes.old = await versionOf(python);
    }
    if (__opts__.test) return rehearse(answer, exists, clear);
    if (!exists || clear) {
      const { retcode, stdout, stderr } = await salt('virtualenv.create')(name, creation(options));
      if (retcode !== 0) return failed(answer, `${stdout}${stderr}`.trim());
      answer.changes.new = await versionOf(python);
      answer.comment = exists ? 'Cleared existing virtualenv' : 'Created new virtualenv';
    } else answer.comment = 'virtualenv exists';
    if (requirements === null && !options.pip_pkgs) return answer;
    return await installInto(answer, options.requirements ?? null, options);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Salt's other name of `virtualenv.managed`.
 *
 * @unknown ignored
 */
export const manage = managed;

const rehearse = (answer: StateReturn, exists: boolean, clear: boolean): StateReturn => {
  if (exists && !clear)
    return { ...answer, comment: `Virtualenv ${answer.name} is already created` };
  const what = exists ? 'cleared' : 'created';
  return { ...answer, result: null, comment: `Virtualenv ${answer.name} is set to be ${what}` };
};

/** Null: none was named. Undefined: it is not there. */
const localFile = async (requirements: string | null): Promise<string | null | undefined> => {
  if (requirements === null || !requirements.startsWith('salt://')) return requirements;
  const cached: string | false = await salt('cp.cache_file')(requirements, String(__env__));
  return cached === false || cached === '' ? undefined : cached;
};

const versionOf = async (python: string): Promise<string> => {
  const { stdout, stderr } = await runCommand([python, '-V'], { plainLocale: true });
  return (stdout || stderr).trim();
};

const creation = (options: Options): PlainDict => {
  const names = [
    'venv_bin',
    'system_site_packages',
    'distribute',
    'clear',
    'python',
    'extra_search_dir',
    'never_download',
    'prompt',
    'user',
    'symlinks',
    'upgrade',
    'env',
  ] as const;
  const given = names.filter(name => options[name] !== undefined && options[name] !== null);
  return Object.fromEntries(given.map(name => [name, options[name] ?? null]));
};

const passedOn = [
  'editable',
  'find_links',
  'no_index',
  'trusted_host',
  'only_binary',
  'log',
  'timeout',
  'cert',
  'source',
  'force_reinstall',
  'global_options',
  'install_options',
  'extra_args',
  'use_wheel',
  'no_use_wheel',
  'process_dependency_links',
] as const;

const installInto = async (
  answer: StateReturn,
  requirements: string | null,
  options: Options,
): Promise<StateReturn> => {
  const { name } = answer;
  const where = { bin_env: name, user: options.user ?? null };
  const before: string[] = await salt('pip.freeze')(where);
  const { retcode, stdout, stderr } = await salt('pip.install')(options.pip_pkgs ?? null, {
    ...where,
    requirements,
    saltenv: String(__env__),
    ...Object.fromEntries(passedOn.map(option => [option, options[option] ?? null])),
    cwd:
      options.cwd ??
      (requirements !== null && isAbsolute(requirements) ? dirname(requirements) : null),
    index_url: options.index_url ?? null,
    extra_index_url: options.extra_index_url ?? null,
    pre_releases: options.pre_releases ?? false,
    exists_action: options.pip_exists_action ?? null,
    ignore_installed: options.pip_ignore_installed ?? false,
    upgrade: options.pip_upgrade ?? false,
    no_deps: options.no_deps ?? false,
    no_binary: options.no_binary ?? null,
    proxy: options.proxy ?? null,
    env_vars: options.env_vars ?? null,
    download: options.pip_download ?? null,
    download_cache: options.pip_download_cache ?? null,
    no_cache_dir: options.pip_no_cache_dir ?? false,
    cache_dir: options.pip_cache_dir ?? null,
  });
  const after: string[] = await salt('pip.freeze')(where);
  const fresh = after.filter(one => !before.includes(one));
  const gone = before.filter(one => !after.includes(one));
  if (fresh.length > 0 || gone.length > 0)
    answer.changes.packages = {
      new: fresh.length > 0 ? fresh : '',
      old: gone.length > 0 ? gone : '',
    };
  return retcode === 0 ? answer : failed(answer, `${answer.comment}\n${stdout}\n${stderr}`);
};
