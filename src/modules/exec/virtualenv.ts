/**
 * Virtual environments of Python, by `virtualenv` or Python's own `venv`.
 *
 * @depends virtualenv or python3-venv
 */
import { join } from 'node:path';
import { SaltInvocationError } from '../api.ts';
import { configText } from '../lib/config-option.ts';
import { isFile } from '../lib/file-paths.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtual__ = (): true | [false, string] =>
  which('virtualenv') !== undefined ||
  which('python3') !== undefined || [false, 'neither virtualenv nor python3 is installed.'];

type CreateOptions = {
  venv_bin?: string | null;
  system_site_packages?: boolean;
  clear?: boolean;
  python?: string | null;
  extra_search_dir?: string | string[] | null;
  never_download?: boolean | null;
  prompt?: string | null;
  pip?: boolean;
  symlinks?: boolean | null;
  upgrade?: boolean | null;
  user?: string | null;
};

/**
 * Makes a virtual environment: pid, retcode, stdout and stderr of the program.
 *
 * @param path where
 * @param venv_bin `virtualenv`, or `venv` for Python's own; what is there when left out
 * @param system_site_packages the system's packages are seen too
 * @param clear empty it first
 * @param python the Python it is made of
 * @param extra_search_dir folders with further wheels (virtualenv)
 * @param never_download use no index (virtualenv)
 * @param prompt shown by the shell
 * @param pip false: without pip (venv)
 * @param symlinks false: copy Python (venv)
 * @param upgrade renew it for a new Python (venv)
 * @param user the account to run as
 * @example tsalt-ssh web1 virtualenv.create /srv/app/venv
 */
export const create = async (
  path: string,
  options: CreateOptions = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  if (path.startsWith('-')) throw new SaltInvocationError(`Not a path: ${path}`);
  const program = options.venv_bin ?? (await configText('virtualenv.venv_bin')) ?? found();
  const argv = isVenv(program)
    ? venvCommand(program, options)
    : virtualenvCommand(program, options);
  const { code, stdout, stderr, pid } = await runCommand([...argv, path] as [string], {
    plainLocale: true,
    ...(options.user ? { runas: options.user } : {}),
  });
  return { pid, retcode: code, stdout, stderr };
};

const found = (): string => (which('virtualenv') === undefined ? 'venv' : 'virtualenv');

const isVenv = (program: string): boolean => /(?:^|\/)(?:py)?venv$/.test(program);

const flag = (isOn: boolean | null | undefined, name: string): string[] => (isOn ? [name] : []);

const refuse = (
  options: CreateOptions,
  names: readonly (keyof CreateOptions)[],
  by: string,
): void => {
  const name = names.find(one => options[one] !== undefined && options[one] !== null);
  if (name !== undefined) throw new SaltInvocationError(`'${name}' is only for ${by}`);
};

const venvCommand = (program: string, options: CreateOptions): string[] => {
  refuse(options, ['extra_search_dir', 'never_download'], 'virtualenv');
  return [
    ...(program.includes('/') ? [program] : [options.python ?? 'python3', '-m', 'venv']),
    ...flag(options.system_site_packages, '--system-site-packages'),
    ...flag(options.clear, '--clear'),
    ...flag(options.pip === false, '--without-pip'),
    ...flag(options.symlinks === true, '--symlinks'),
    ...flag(options.symlinks === false, '--copies'),
    ...flag(options.upgrade, '--upgrade'),
    ...(options.prompt ? [`--prompt=${options.prompt}`] : []),
  ];
};

const virtualenvCommand = (program: string, options: CreateOptions): string[] => {
  refuse(options, ['symlinks', 'upgrade'], "Python's own venv");
  return [
    program,
    ...(options.python ? [`--python=${options.python}`] : []),
    ...[options.extra_search_dir ?? []].flat().map(dir => `--extra-search-dir=${dir}`),
    ...flag(options.never_download, '--no-download'),
    ...flag(options.system_site_packages, '--system-site-packages'),
    ...flag(options.clear, '--clear'),
    ...flag(options.pip === false, '--no-pip'),
    ...(options.prompt ? [`--prompt=${options.prompt}`] : []),
  ];
};

/**
 * The folder of packages of a virtual environment.
 *
 * @param venv the environment
 */
export const get_site_packages = async (venv: string): Promise<string> => {
  const python = join(venv, 'bin/python');
  if (!isFile(python)) throw new SaltInvocationError(`${venv} is no virtual environment`);
  const { stdout } = await runCommand(
    [python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'],
    { plainLocale: true },
  );
  return stdout.trim();
};
