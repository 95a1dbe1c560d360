/**
 * Packages of Alpine Linux, by apk. Goes by the name `pkg`.
 *
 * @platform Alpine
 * @depends apk
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { compareAlpine } from '../../_shared/text/package-version.ts';
import { __grains__, CommandExecutionError } from '../../api.ts';
import {
  installing,
  latestVersion,
  listPkgs,
  listUpgrades,
  purging,
  refreshDb,
  removing,
  upgrading,
  versionCmp,
  versionOf,
} from '../package-functions.ts';
import { type Manager, runManager, runRefresh } from '../package-manager.ts';
import type { PackageList } from '../packages.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Alpine' || __grains__.os === 'Alpine'
    ? __virtualname__
    : [false, 'This is no Alpine system.'];

const manager: Manager = {
  list: async () => {
    const { code, stdout, stderr } = await runCommand(['apk', 'info', '-v'], {
      plainLocale: true,
      cwd: '/',
    });
    if (code !== 0) throw new CommandExecutionError(`apk info failed: ${stderr.trim()}`);
    return _parseApkInfo(stdout);
  },
  compare: compareAlpine,
  word: (name, version) => (version === null ? name : `${name}=${version}`),
  install: (action, words, options) => [
    'apk',
    ...(action === 'reinstall' ? ['fix', '--reinstall'] : ['add']),
    ...(action === 'upgrade' ? ['--upgrade'] : []),
    ...(options.skip_verify ? ['--allow-untrusted'] : []),
    ...(options.fromrepo ? ['--repository', options.fromrepo] : []),
    ...(action === 'reinstall' ? words.map(word => word.replace(/=.*$/, '')) : words),
  ],
  installsOnly: true,
  remove: (action, names) => ['apk', 'del', ...(action === 'purge' ? ['--purge'] : []), ...names],
  upgrade: names => (names.length > 0 ? ['apk', 'add', '--upgrade', ...names] : ['apk', 'upgrade']),
  refresh: async () => {
    await runRefresh(['apk', 'update'], manager.locked);
    return true;
  },
  locked: /Unable to lock database: (?:Resource temporarily unavailable|temporary error)/,
  candidates: async names =>
    new Map(
      [...(await readPolicy(names))].map(([name, versions]) => [
        name,
        versions.toSorted(compareAlpine).at(-1) ?? '',
      ]),
    ),
  upgrades: async () => {
    const { code, stdout, stderr } = await runManager(
      ['apk', 'upgrade', '--simulate'],
      manager.locked,
    );
    if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
    return _parseApkUpgrade(stdout);
  },
  versions: async name => (await readPolicy([name])).get(name) ?? [],
};

/** Lines of `name-1.2.3-r0`. */
export const _parseApkInfo = (text: string): PackageList => {
  const list: PackageList = {};
  for (const line of text.split('\n')) {
    const match = /^(\S+)-([^-\s]+-r\d+)(?:\s|$)/.exec(line);
    if (match) list[match[1] ?? ''] = [match[2] ?? ''];
  }
  return list;
};

/**
 * Lines of `(1/2) Upgrading name (1.2.3-r0 -> 1.2.4-r0)`; packages pinned in the world file are not
 * listed.
 */
export const _parseApkUpgrade = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/^\(\d+\/\d+\) Upgrading (\S+) \(\S+ -> (\S+)\)$/gm)].map(match => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );

const readPolicy = async (names: readonly string[]): Promise<Map<string, string[]>> => {
  const { stdout } = await runManager(['apk', 'policy', ...names], manager.locked);
  return _parseApkPolicy(stdout);
};

/** `name policy:`, then versions, each followed by its repositories. */
export const _parseApkPolicy = (text: string): Map<string, string[]> => {
  const all = new Map<string, string[]>();
  let name = '';
  let version = '';
  for (const line of text.split('\n')) {
    const head = /^(\S+) policy:$/.exec(line)?.[1];
    const found = /^ {2}(\S+):$/.exec(line)?.[1];
    if (head) name = head;
    else if (found) version = found;
    else if (/^ {4}\S/.test(line) && !line.includes('lib/apk/db/installed')) {
      const known = all.get(name) ?? [];
      if (!known.includes(version)) all.set(name, [...known, version]);
    }
  }
  return all;
};

export const list_pkgs = listPkgs(manager);
export const version = versionOf(manager);
export const latest_version = latestVersion(manager);
export const install = installing(manager);
export const remove = removing(manager);
export const purge = purging(manager);
export const upgrade = upgrading(manager);
export const list_upgrades = listUpgrades(manager);
export const refresh_db = refreshDb(manager);
export const version_cmp = versionCmp(manager);

/**
 * The files of packages, by package.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_dict busybox
 */
export const file_dict = async (
  ...packages: string[]
): Promise<{ errors: string[]; packages: { [name: string]: string[] } } | string> => {
  if (packages.length === 0) return 'Package name should be provided';
  const found: { [name: string]: string[] } = {};
  for (const name of packages) {
    const { stdout } = await runManager(['apk', 'info', '-L', name], manager.locked);
    const files = stdout.split('\n').filter(line => line !== '' && !line.endsWith(' contains:'));
    if (files.length > 0) found[name] = files;
  }
  return { errors: [], packages: found };
};

/** Returns the result of `pkg.file_dict`, as in Salt. */
export const file_list = file_dict;

/**
 * Returns the packages that files belong to, with their versions, by path.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.owner /bin/busybox
 */
export const owner = async (...paths: string[]): Promise<{ [path: string]: string } | string> => {
  if (paths.length === 0) return 'You must provide a path';
  const owners: { [path: string]: string } = {};
  for (const path of paths) {
    const { stdout } = await runManager(['apk', 'info', '-W', path], manager.locked);
    const name = / is owned by (\S+)/.exec(stdout)?.[1];
    owners[path] = name ?? 'Could not find owner package';
  }
  return owners;
};
