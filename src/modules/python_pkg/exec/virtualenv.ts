/**
 * Virtual environments of Python, by `virtualenv` or Python's own `venv`.
 *
 * @depends virtualenv or python3-venv
 */
import { join } from 'node:path';
import { runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { isFile } from '../../_shared/files/file-paths.ts';
import { configText } from '../../_shared/states/config-option.ts';
import { environmentOf } from '../../_shared/states/values.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('virtualenv') !== undefined ||
  which('python3') !== undefined || [false, 'neither virtualenv nor python3 is installed.'];

type CreateOptions = {
  venv_bin?: string | null;
  system_site_packages?: boolean;
  distribute?: boolean;
  clear?: boolean;
  python?: string | null;
  extra_search_dir?: string | string[] | null;
  never_download?: boolean | null;
  prompt?: string | null;
  pip?: boolean;
  symlinks?: boolean | null;
  upgrade?: boolean | null;
  user?: string | null;
  use_vt?: boolean;
  saltenv?: string;
  env?: Plain;
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
 * @param pip taken, and of no effect: both programs install pip
 * @param symlinks false: copy Python (venv)
 * @param upgrade renew it for a new Python (venv)
 * @param user the account to run as
 * @param distribute refused: setuptools took its place
 * @param use_vt taken, and of no effect
 * @param saltenv taken, and of no effect
 * @param env variables for the program, such as `VIRTUALENV_ALWAYS_COPY: 1`
 * @example tsalt-ssh web1 virtualenv.create /srv/app/venv
 */
export const create = async (
  path: string,
  options: CreateOptions = {},
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  if (path.startsWith('-')) throw new SaltInvocationError(`Not a path: ${path}`);
  if (options.distribute)
    throw new SaltInvocationError(
      'virtualenv has no option for distribute any more: setuptools took its place.',
    );
  const program = options.venv_bin ?? (await configText('virtualenv.venv_bin')) ?? found();
  const argv = isVenv(program)
    ? venvCommand(program, options)
    : virtualenvCommand(program, options);
  const { code, stdout, stderr, pid } = await runCommand([...argv, path] as [string], {
    plainLocale: true,
    ...(options.user ? { runas: options.user } : {}),
    env: environmentOf(options.env),
  });
  return { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
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
    ...flag(options.symlinks === true, '--symlinks'),
    ...flag(options.symlinks === false, '--copies'),
    ...flag(options.upgrade, '--upgrade'),
    ...(options.prompt ? [`--prompt=${options.prompt}`] : []),
  ];
};

const virtualenvCommand = (program: string, options: CreateOptions): string[] => {
  refuse(options, ['symlinks', 'upgrade'], "Python's own venv");
  if (options.python?.includes('/') && !which(options.python))
    throw new CommandExecutionError(`Cannot find requested python (${options.python}).`);
  return [
    program,
    ...(options.python ? [`--python=${options.python}`] : []),
    ...[options.extra_search_dir ?? []].flat().map(dir => `--extra-search-dir=${dir}`),
    ...flag(options.never_download, '--no-download'),
    ...flag(options.system_site_packages, '--system-site-packages'),
    ...flag(options.clear, '--clear'),
    ...(options.prompt ? [`--prompt=${options.prompt}`] : []),
  ];
};

/**
 * The folder of packages of a virtual environment.
 *
 * @param venv the environment
 */
export const get_site_packages = async (venv: string): Promise<string> =>
  (await inside(venv, 'import sysconfig; print(sysconfig.get_path("purelib"))')).trim();

/**
 * The version of virtualenv, in numbers.
 *
 * @param venv_bin the program
 * @param user the account to run as
 * @example tsalt-ssh web1 virtualenv.virtualenv_ver /usr/bin/virtualenv
 */
export const virtualenv_ver = async (
  venv_bin: string,
  user: string | null = null,
): Promise<number[]> => {
  const { stdout } = await runChecked([venv_bin, '--version'], {
    plainLocale: true,
    ...(user ? { runas: user } : {}),
  });
  const [version] = /\d+(?:\.\d+)+/.exec(stdout) ?? [];
  if (version === undefined)
    throw new CommandExecutionError(`${venv_bin} --version tells no version: ${stdout.trim()}`);
  return version.split('.').map(Number);
};

/** Runs code in a virtual environment; what it is about is never part of the code. */
const inside = async (venv: string, program: string, ...words: string[]): Promise<string> => {
  const python = join(venv, 'bin/python');
  if (!isFile(python))
    throw new CommandExecutionError(
      `Path '${venv}' does not appear to be a virtualenv: '${python}' not found.`,
    );
  const { code, stdout, stderr } = await runCommand([python, '-c', program, ...words], {
    plainLocale: true,
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout;
};

const resourceCode = `import sys
from importlib.util import find_spec
try:
    spec = find_spec(sys.argv[1])
except ImportError:
    spec = None
places = [] if spec is None else list(spec.submodule_search_locations or [])
if not places:
    sys.exit("There is no package " + sys.argv[1])
from os.path import exists, join
path = next((one for one in (join(place, sys.argv[2]) for place in places) if exists(one)), None)
`;

const distributionCode = `import sys, importlib.metadata as m
try:
    print(m.distribution(sys.argv[1]).locate_file(""))
except m.PackageNotFoundError:
    sys.exit("There is no distribution " + sys.argv[1])`;

/**
 * The folder that a distribution is installed in.
 *
 * @param venv the virtual environment
 * @param distribution the distribution
 * @example tsalt-ssh web1 virtualenv.get_distribution_path /srv/app/venv flask
 */
export const get_distribution_path = async (venv: string, distribution: string): Promise<string> =>
  (await inside(venv, distributionCode, distribution)).trim().replace(/(?<=.)\/$/, '');

/**
 * Where a file of a package is.
 *
 * @param venv the virtual environment
 * @param package the package
 * @param resource the file, from the package's folder
 * @example tsalt-ssh web1 virtualenv.get_resource_path /srv/app/venv flask sansio/app.py
 */
export const get_resource_path = async (
  venv: string,
  { package: name, resource }: { package: string; resource: string },
): Promise<string> =>
  (
    await inside(venv, `${resourceCode}print(path or join(places[0], sys.argv[2]))`, name, resource)
  ).trim();

/**
 * Returns the content of a file in a package.
 *
 * @param venv the virtual environment
 * @param package the package
 * @param resource the file, from the package's folder
 * @example tsalt-ssh web1 virtualenv.get_resource_content /srv/app/venv flask py.typed
 */
export const get_resource_content = async (
  venv: string,
  { package: name, resource }: { package: string; resource: string },
): Promise<string> =>
  inside(
    venv,
    `${resourceCode}if path is None:
    sys.exit("The package " + sys.argv[1] + " has no file " + sys.argv[2])
sys.stdout.write(open(path, encoding="utf-8").read())`,
    name,
    resource,
  );
