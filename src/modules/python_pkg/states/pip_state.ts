/** Packages of Python. Goes by the name `pip`. */
import { messageOf } from '../../../protocol/error.ts';
import { uidOf } from '../../_shared/files/owner-names.ts';
import { redactPasswords } from '../../_shared/sources/url-login.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { isPathToCome, isUserToCome } from '../../_shared/states/to-come.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { __env__, __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import {
  type DesiredRequirement,
  desiredOf,
  type PipList,
  shownPackageName,
  versionIn,
  whyInstalled,
} from '../pip-due.ts';
import type { PipOptions, PipWhere } from '../pip-run.ts';
import { sameName } from '../python-version.ts';

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
 * @param requirements requirements files instead, on the host or `salt://`
 * @param upgrade true: newer versions where the index has some that satisfy the requirement
 * @param pip_bin the path of a pip, as `bin_env`
 * @param target a folder to install into
 * @param proxy a proxy
 * @param repo refused: use the URL as name or in `editable`
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
  const texts = pkgs?.length ? pkgs : [name];
  const { bin_env, cwd, user } = options;
  const isToCome = isPathToCome(bin_env) || isPathToCome(cwd) || isUserToCome(user);
  const work = async (): Promise<StateReturn> => {
    if (user && !isToCome && uidOf(user) === undefined)
      return failed(name, `User ${user} does not exist`);
    if (!isToCome) await salt('pip.version')(bin_env ?? null, pipUser(options));
    if (options.requirements || options.editable) return await installFiles(name, options);
    const { wanted, faults } = readAll(texts);
    return faults.length > 0
      ? failed(name, faults.join('\n'))
      : await installNamed(name, wanted, options, isToCome);
  };
  try {
    return shown({ ...(await work()), name: texts.join(';') });
  } catch (error) {
    return shown(failed(texts.join(';'), `Error installing '${name}': ${messageOf(error)}`));
  }
};

/** An answer without the passwords of addresses. */
const shown = (ret: StateReturn): StateReturn => ({
  ...ret,
  name: redactPasswords(ret.name),
  comment: redactPasswords(String(ret.comment)),
  changes: Object.fromEntries(
    Object.entries(ret.changes).map(([key, value]) => [redactPasswords(key), value]),
  ),
});

const readAll = (texts: readonly string[]): { wanted: DesiredRequirement[]; faults: string[] } => {
  const wanted: DesiredRequirement[] = [];
  const faults: string[] = [];
  for (const text of texts)
    try {
      wanted.push(desiredOf(text));
    } catch (error) {
      faults.push(messageOf(error));
    }
  return { wanted, faults };
};

const pipUser = ({ cwd, user }: PipOptions): PlainDict => ({
  ...(user ? { user } : {}),
  ...(cwd ? { cwd } : {}),
});

const whereOf = ({ bin_env, user, cwd, env_vars }: PipOptions): PlainDict => ({
  ...(bin_env ? { bin_env } : {}),
  ...(user ? { user } : {}),
  ...(cwd ? { cwd } : {}),
  ...(env_vars ? { env_vars } : {}),
});

const installNamed = async (
  name: string,
  wanted: readonly DesiredRequirement[],
  options: PipOptions,
  isToCome: boolean,
): Promise<StateReturn> => {
  const where = whereOf(options);
  const before: PipList = isToCome ? {} : await salt('pip.list')(null, where);
  const due: DesiredRequirement[] = [];
  const done: string[] = [];
  for (const one of wanted) {
    const reason = await whyInstalled(one, before, options, where);
    if (reason === undefined) due.push(one);
    else done.push(reason);
  }
  if (due.length === 0) {
    const all = `All specified packages are already installed${options.upgrade ? ' and up-to-date' : ''}`;
    return unchanged(name, [...done, all].join('\n'));
  }
  if (__opts__.test)
    return would(
      name,
      wanted.length > 1
        ? ['Python package(s) set to be installed:', ...wanted.map(({ text }) => text)].join('\n')
        : `Python package ${due[0]?.text} is set to be installed`,
      Object.fromEntries(due.map(one => [shownWith(one, '???'), 'Installed'])),
    );
  const texts = due.map(({ text }) => text);
  const { retcode, stdout, stderr } = await salt('pip.install')(texts, options);
  if (retcode !== 0)
    return failed(
      name,
      [...done, `Failed to install packages: ${texts.join(', ')}. Error: ${stdout} ${stderr}`].join(
        '\n',
      ),
    );
  const after: PipList = await salt('pip.list')(null, where);
  const changes: PlainDict = {};
  const lost: string[] = [];
  for (const one of due) {
    const version = one.asked ? versionIn(after, one.asked.name) : '???';
    if (version === '' && !options.target)
      lost.push(
        `There was no error installing package '${one.text}' although it does not show when calling 'pip.freeze'.`,
      );
    else changes[shownWith(one, version || '???')] = 'Installed';
  }
  const comment = lost.length > 0 ? lost : ['All packages were successfully installed'];
  return changed(name, [...done, ...comment].join('\n'), changes);
};

const shownWith = ({ text, asked }: DesiredRequirement, version: string): string =>
  `${asked ? shownPackageName(asked) : text}==${version}`;

const installFiles = async (name: string, options: PipOptions): Promise<StateReturn> => {
  const { requirements, editable } = options;
  const files = plainStr(requirements);
  const source = plainStr(editable);
  if (__opts__.test)
    return would(
      name,
      [
        ...(requirements ? [`Requirements file '${files}' will be processed.`] : []),
        ...(editable
          ? [
              `Package will be installed in editable mode (i.e. setuptools "develop mode") from ${source}.`,
            ]
          : []),
      ].join(' '),
    );
  const unable = (reason: string): StateReturn =>
    failed(
      name,
      [
        ...(requirements ? [`Unable to process requirements file "${files}"`] : []),
        ...(editable ? [`Unable to install from VCS checkout ${source}.`] : []),
        `Error: ${reason}`,
      ].join(' '),
    );
  let said: { retcode: number; stdout: string; stderr: string };
  try {
    said = await salt('pip.install')(null, { saltenv: String(__env__), ...options });
  } catch (error) {
    return unable(messageOf(error));
  }
  const { retcode, stdout, stderr } = said;
  if (retcode !== 0) return unable(`${stdout} ${stderr}`);
  const isNew = /^\s*Successfully (?:un)?installed /m.test(String(stdout));
  return changed(
    name,
    [
      ...(requirements && isNew ? [`Successfully processed requirements file ${files}.`] : []),
      ...(requirements && !isNew ? ['Requirements were already installed.'] : []),
      ...(editable ? [`Package successfully installed from VCS checkout ${source}.`] : []),
    ].join(' '),
    {
      ...(requirements && isNew ? { requirements: true } : {}),
      ...(editable ? { editable: true } : {}),
    },
  );
};

/**
 * A Python package is not installed.
 *
 * @param name the package
 * @param requirements a requirements file on the host; what it names is removed too
 * @param proxy a proxy
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
    if (__opts__.test)
      return would(name, `Package ${name} is set to be removed`, inPlan({ [name]: 'Removed' }));
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
 * @example
 * everything-new:
 *   pip.uptodate:
 *     - bin_env: /srv/app/venv
 */
export const uptodate = async (name: string, where: PipWhere = {}): Promise<StateReturn> => {
  try {
    const due: { [pkg: string]: string } = await salt('pip.list_upgrades')(where);
    if (Object.keys(due).length === 0) return unchanged(name, 'System is already up-to-date.');
    if (__opts__.test) return would(name, 'System update will be performed', inPlan(due));
    const { result, changes, comment } = await salt('pip.upgrade')(where);
    return result
      ? changed(name, 'Upgrade successful.', changes)
      : failed(name, `Upgrade failed. ${comment}`.trim(), changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
