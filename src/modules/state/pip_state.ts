/** Packages of Python. Goes by the name `pip`. */
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import type { PipOptions, PipWhere } from '../lib/pip-run.ts';
import { parseRequirement, type Requirement, sameName, satisfies } from '../lib/python-version.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';
import { isPathToCome, isUserToCome } from '../lib/to-come.ts';

export const __virtualname__ = 'pip';

export const __virtual__ = (): string | [false, string] =>
  hasFunction('pip.list') ? __virtualname__ : [false, 'pip.list is not available on this host.'];

type InstalledOptions = PipOptions & {
  pkgs?: string[] | null;
  pip_bin?: string | null;
  repo?: string | null;
};

/**
 * Python packages are installed.
 *
 * @param name a requirement such as `flask>=2,<3`; not used when `pkgs` is given
 * @param pkgs a list of requirements
 * @param requirements a requirements file on the host, instead
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param upgrade true: newer versions where there are (asked of pip every time)
 * @param force_reinstall true: install again what is there
 * @param ignore_installed true: do not look at what is there
 * @param index_url the index
 * @param extra_index_url a further index
 * @param no_index true: no index, only `find_links`
 * @param find_links where to look besides
 * @param extra_args further options for pip
 * @param pip_bin the path of a pip, as `bin_env`
 * @param editable a path or URL to install in place
 * @param env_vars variables for pip
 * @param no_deps true: without what it depends on
 * @param pre_releases true: pre-releases too
 * @param exists_action pip's answer when a path is there: s, i, w, b
 * @param trusted_host hosts that are trusted without a certificate
 * @param cache_dir where pip keeps what it has fetched
 * @param no_cache_dir true: keep nothing
 * @param no_binary packages to build from source, or `:all:`
 * @param target a folder to install into
 * @param timeout seconds to wait for a server
 * @param proxy a proxy
 * @param log a file that pip writes down what it does in
 * @param source the folder for `editable` from a repository
 * @param cert a file with the certificates to trust
 * @param global_options options for the packages' own setup
 * @param repo refused: give the address as name or in `editable`
 * @param use_vt taken, and of no effect
 * @unknown ignored
 * @example
 * flask>=2:
 *   pip.installed:
 *     - bin_env: /srv/app/venv
 */
export const installed = async (
  name: string,
  { pkgs = null, pip_bin = null, repo = null, ...given }: InstalledOptions = {},
): Promise<StateReturn> => {
  if (repo !== null)
    return failed(
      name,
      'pip.installed does not take repo: give its address as name or in editable.',
    );
  const options: PipOptions = pip_bin ? { bin_env: pip_bin, ...given } : given;
  if (pkgs !== null && !Array.isArray(pkgs))
    return failed(name, 'pkgs argument must be formatted as a list');
  const wanted = pkgs ?? [name];
  const where = whereOf(options);
  const { bin_env, cwd, user } = options;
  const isToCome = isPathToCome(bin_env) || isPathToCome(cwd) || isUserToCome(user);
  try {
    const before: { [name: string]: string } = isToCome ? {} : await salt('pip.list')(null, where);
    if (options.requirements || options.editable)
      return await installFiles(name, options, before, where);
    const requirements = wanted.map(text => [text, requirementOf(text)] as const);
    const isForced =
      options.force_reinstall === true ||
      options.ignore_installed === true ||
      options.upgrade === true;
    const due = requirements.filter(([, one]) => isForced || !isThere(one, before));
    const done = requirements
      .filter(one => !due.includes(one))
      .map(([text]) => `Python package ${text} was already installed`);
    if (due.length === 0)
      return unchanged(name, [...done, 'All specified packages are already installed'].join('\n'));
    if (__opts__.test)
      return would(
        name,
        due.map(([text]) => `Python package ${text} is set to be installed`).join('\n'),
        Object.fromEntries(
          due.map(([, one]) => [one.name, { old: versionIn(one, before), new: 'installed' }]),
        ),
      );
    return await installNow(
      name,
      due.map(([text]) => text),
      options,
      before,
      where,
      done,
    );
  } catch (error) {
    return failed(name, `Error installing '${name}': ${messageOf(error)}`);
  }
};

const whereOf = ({ bin_env, user, cwd, env_vars }: PipOptions): PlainDict => ({
  ...(bin_env ? { bin_env } : {}),
  ...(user ? { user } : {}),
  ...(cwd ? { cwd } : {}),
  ...(env_vars ? { env_vars } : {}),
});

const requirementOf = (text: string): Requirement => {
  const found = parseRequirement(text);
  if (!found && /^[^=<>!~]+=[^=]/.test(text))
    throw new Error(
      `Invalid version specification in package ${text}. '=' is not supported, use '==' instead.`,
    );
  return found ?? { name: text, specs: [] };
};

const versionIn = ({ name }: Requirement, list: { [name: string]: string }): string =>
  Object.entries(list).find(([one]) => sameName(one, name))?.[1] ?? '';

const isThere = (one: Requirement, list: { [name: string]: string }): boolean => {
  const version = versionIn(one, list);
  return version !== '' && satisfies(version, one.specs);
};

const installFiles = async (
  name: string,
  options: PipOptions,
  before: { [name: string]: string },
  where: PlainDict,
): Promise<StateReturn> => {
  if (__opts__.test)
    return would(
      name,
      [
        ...(options.requirements
          ? [`Requirements file '${options.requirements}' will be processed.`]
          : []),
        ...(options.editable
          ? [
              `Package will be installed in editable mode (i.e. setuptools "develop mode") from ${options.editable}.`,
            ]
          : []),
      ].join(' '),
    );
  return installNow(name, null, options, before, where, []);
};

const installNow = async (
  name: string,
  pkgs: string[] | null,
  options: PipOptions,
  before: { [name: string]: string },
  where: PlainDict,
  done: string[],
): Promise<StateReturn> => {
  const { retcode, stdout, stderr } = await salt('pip.install')(pkgs, options);
  const after: { [name: string]: string } = await salt('pip.list')(null, where);
  const changes: PlainDict = {};
  for (const one of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (before[one] !== after[one]) changes[`${one}==${after[one] ?? '???'}`] = 'Installed';
  if (retcode !== 0) {
    const said = `${stderr}`.trim() || `${stdout}`.trim();
    return failed(
      name,
      `Failed to install packages: ${pkgs?.join(', ') ?? options.requirements ?? options.editable}. Error: ${said}`,
      changes,
    );
  }
  const comment =
    pkgs === null
      ? Object.keys(changes).length > 0
        ? 'Successfully processed requirements file '.concat(
            `${options.requirements ?? options.editable}.`,
          )
        : 'Requirements were already installed.'
      : [...done, 'All packages were successfully installed'].join('\n');
  return changed(name, comment, changes);
};

/**
 * A Python package is not installed.
 *
 * @param name the package
 * @param requirements a requirements file on the host; what it names is removed too
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param log a file that pip writes down what it does in
 * @param proxy a proxy
 * @param timeout seconds to wait for a server
 * @param use_vt taken, and of no effect
 * @example
 * flask:
 *   pip.removed:
 *     - bin_env: /srv/app/venv
 */
export const removed = async (
  name: string,
  {
    requirements = null,
    log = null,
    proxy = null,
    timeout = null,
    ...where
  }: PipWhere & Pick<PipOptions, 'requirements' | 'log' | 'proxy' | 'timeout'> = {},
): Promise<StateReturn> => {
  try {
    const list: { [name: string]: string } = await salt('pip.list')(null, where);
    if (!Object.keys(list).some(one => sameName(one, name)))
      return unchanged(name, 'Package is not installed.');
    if (__opts__.test) return would(name, `Package ${name} is set to be removed`);
    const options = { ...where, requirements, log, proxy, timeout };
    const { retcode, stderr } = await salt('pip.uninstall')(name, options);
    return retcode === 0
      ? changed(name, 'Package was successfully removed.', { [name]: 'Removed' })
      : failed(name, `Could not remove package. ${stderr}`.trim());
  } catch (error) {
    return failed(name, `Error uninstalling '${name}': ${messageOf(error)}`);
  }
};

/**
 * All Python packages are at the newest version that their index has.
 *
 * @param name of no meaning
 * @param bin_env a virtual environment, or the path of a pip
 * @param user the account to run as
 * @param cwd the folder to run in
 * @param use_vt taken, and of no effect
 * @example
 * everything-new:
 *   pip.uptodate:
 *     - bin_env: /srv/app/venv
 */
export const uptodate = async (name: string, where: PipWhere = {}): Promise<StateReturn> => {
  try {
    const due: { [pkg: string]: string } = await salt('pip.list_upgrades')(where);
    if (Object.keys(due).length === 0) return unchanged(name, 'System is already up-to-date.');
    if (__opts__.test) return would(name, 'System update will be performed');
    const { result, changes, comment } = await salt('pip.upgrade')(where);
    return result
      ? changed(name, 'Upgrade successful.', changes)
      : failed(name, `Upgrade failed. ${comment}`.trim(), changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
