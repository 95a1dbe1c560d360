/**
 * Packages of SUSE, by zypper. Goes by the name `pkg`.
 *
 * @platform SUSE
 * @depends zypper, rpm
 */
import { __grains__, type Plain, type PlainDict } from '../api.ts';
import type { Downloaded } from '../lib/downloaded-packages.ts';
import { type IniRepo, listIniRepos, removeIniRepo, saveIniRepo } from '../lib/ini-repos.ts';
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
} from '../lib/package-functions.ts';
import { type Manager, runManager } from '../lib/package-manager.ts';
import { compareRpm } from '../lib/package-version.ts';
import { targetsOf } from '../lib/packages.ts';
import { downloadedRpms, installedRpms } from '../lib/rpm.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Suse' && which('zypper')
    ? __virtualname__
    : [false, 'This is no SUSE system with zypper.'];

const zypper = (...args: string[]): [string, ...string[]] => [
  'zypper',
  '--non-interactive',
  '--no-refresh',
  ...args,
];

const manager: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => (version === null ? name : `${name}=${version}`),
  install: (action, words, options) => [
    'zypper',
    '--non-interactive',
    '--no-refresh',
    ...(options.skip_verify ? ['--no-gpg-checks'] : []),
    'install',
    '--auto-agree-with-licenses',
    ...(action === 'downgrade' ? ['--oldpackage'] : []),
    ...(action === 'reinstall' ? ['--force'] : []),
    ...(options.no_recommends ? ['--no-recommends'] : []),
    ...(options.fromrepo ? ['--from', options.fromrepo] : []),
    ...(options.downloadonly ? ['--download-only'] : []),
    '--name',
    ...words,
  ],
  installAdvisories: (ids, options) =>
    zypper(
      'install',
      '--auto-agree-with-licenses',
      ...(options.downloadonly ? ['--download-only'] : []),
      ...ids.map(id => `patch:${id}`),
    ),
  remove: (_, names) => zypper('remove', ...names),
  upgrade: names => zypper('update', '--auto-agree-with-licenses', ...names),
  refresh: () => ['zypper', '--non-interactive', 'refresh', '--force'],
  candidates: async names => {
    const { stdout } = await runManager(zypper('info', '-t', 'package', ...names), manager.locked);
    return _parseZypperInfo(stdout);
  },
  upgrades: async () => {
    const { stdout } = await runManager(zypper('list-updates'), manager.locked);
    return _parseUpdates(stdout);
  },
  versions: async name => {
    const words = zypper('search', '-s', '--match-exact', '-t', 'package', name);
    return _parseVersions((await runManager(words, manager.locked)).stdout);
  },
  locked: /System management is locked by the application/,
};

/** The table of `zypper search -s`: lines `v | name | package | version | arch | repository`. */
export const _parseVersions = (text: string): string[] => [
  ...new Set(
    text.split('\n').flatMap(line => {
      const [, , type, version] = line.split('|').map(part => part.trim());
      return type === 'package' && version ? [version] : [];
    }),
  ),
];

/** The table of `zypper list-updates`: a line `v | repository | name | current | available | arch`. */
export const _parseUpdates = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap(line => {
      const [status, , name, , newest] = line.split('|').map(part => part.trim());
      return status === 'v' && name && newest ? [[name, newest] as const] : [];
    }),
  );

/** `Name : value` blocks of `zypper info`. */
export const _parseZypperInfo = (text: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const block of text.split(/^Information for package .*$/m)) {
    const value = (key: string): string =>
      new RegExp(`^${key}\\s*:\\s*(\\S+)`, 'm').exec(block)?.[1] ?? '';
    if (value('Name')) found.set(value('Name'), value('Version'));
  }
  return found;
};

const folders = ['/etc/zypp/repos.d'];

/**
 * All repositories by alias.
 *
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async (): Promise<{ [id: string]: IniRepo }> => listIniRepos(folders);

/**
 * A repository; an empty dict when it is not there.
 *
 * @param repo its alias
 * @example tsalt-ssh '*' pkg.get_repo repo-oss
 */
export const get_repo = async (
  repo: string,
  { root = '' }: RepoOptions = {},
): Promise<IniRepo | Record<string, never>> => listIniRepos(foldersIn(root))[repo] ?? {};

type RepoOptions = { root?: string; [other: string]: unknown };

const foldersIn = (root: string): string[] => folders.map(folder => `${root}${folder}`);

const settings = [
  'name',
  'baseurl',
  'mirrorlist',
  'enabled',
  'autorefresh',
  'priority',
  'gpgcheck',
  'repo_gpgcheck',
  'pkg_gpgcheck',
  'gpgkey',
  'type',
  'path',
  'keeppackages',
];

/**
 * Adds or changes a repository and gives it.
 *
 * @param repo its alias
 * @param name its name for people
 * @param baseurl its address
 * @param enabled false: switched off
 * @param autorefresh true: fetch its data by itself
 * @param gpgcheck true: check signatures
 * @param gpgkey the address of its key
 * @param priority its priority
 * @example tsalt-ssh '*' pkg.mod_repo tools baseurl=https://example.com/tools
 */
export const mod_repo = async (
  repo: string,
  options: PlainDict = {},
): Promise<IniRepo | Record<string, never>> => {
  const root = typeof options.root === 'string' ? options.root : '';
  const given = Object.entries(options).filter(
    ([key, value]) => settings.includes(key) && value !== null && value !== undefined,
  );
  await saveIniRepo(
    foldersIn(root),
    repo,
    Object.fromEntries(given),
    typeof options.file === 'string' ? options.file : null,
  );
  return get_repo(repo, { root });
};

/**
 * Takes a repository away.
 *
 * @param repo its alias
 * @example tsalt-ssh '*' pkg.del_repo tools
 */
export const del_repo = async (repo: string, { root = '' }: RepoOptions = {}): Promise<string> =>
  removeIniRepo(foldersIn(root), repo);

/**
 * The locks of packages.
 *
 * @example tsalt-ssh '*' pkg.list_locks
 */
export const list_locks = async (): Promise<PlainDict> => {
  const { stdout } = await runManager(zypper('locks'), manager.locked);
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [number, name, type] = line.split('|').map(part => part.trim());
      return /^\d+$/.test(number ?? '') && name ? [[name, { type: type ?? 'package' }]] : [];
    }),
  );
};

/**
 * The names of the packages that are kept at their version.
 *
 * @example tsalt-ssh '*' pkg.list_holds
 */
export const list_holds = async (): Promise<string[]> => Object.keys(await list_locks()).sort();

/**
 * Keeps packages at their version.
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, 'addlock');

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, 'removelock');

const changeLocks = async (
  name: string | null,
  pkgs: Plain | undefined,
  action: 'addlock' | 'removelock',
): Promise<PlainDict> => {
  const locks = await list_locks();
  const results: PlainDict = {};
  const holding = action === 'addlock';
  for (const one of targetsOf(name, pkgs, undefined).keys()) {
    const isDone = one in locks === holding;
    const { code } = isDone ? { code: 0 } : await runManager(zypper(action, one), manager.locked);
    results[one] = {
      name: one,
      changes:
        isDone || code !== 0 ? {} : { old: holding ? '' : 'hold', new: holding ? 'hold' : '' },
      result: code === 0,
      comment:
        code !== 0
          ? `Unable to ${holding ? 'add' : 'remove'} lock for the package ${one}.`
          : `Package ${one} is ${isDone ? 'already ' : holding ? 'now ' : 'no longer '}${
              isDone ? (holding ? 'set to be held' : 'set not to be held') : 'being held'
            }.`,
    };
  }
  return results;
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

type Patches = { [id: string]: { installed: boolean; summary: string } };

/**
 * The patches that the repositories know, and whether each is installed.
 *
 * @example tsalt-ssh '*' pkg.list_patches
 */
export const list_patches = async (): Promise<Patches> => {
  const { stdout } = await runManager(zypper('search', '-t', 'patch'), manager.locked);
  return _parsePatches(stdout);
};

/** The table of `zypper search -t patch`: lines `i | name | summary | patch`. */
export const _parsePatches = (text: string): Patches =>
  Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [status = '', name = '', summary = '', type] = line.split('|').map(part => part.trim());
      return type === 'patch' ? [[name, { installed: /^i/i.test(status), summary }]] : [];
    }),
  );

/**
 * The patches that are installed.
 *
 * @example tsalt-ssh '*' pkg.list_installed_patches
 */
export const list_installed_patches = async (): Promise<Patches> =>
  Object.fromEntries(Object.entries(await list_patches()).filter(([, { installed }]) => installed));

/**
 * The package files that zypper has downloaded, by name and version.
 *
 * @example tsalt-ssh '*' pkg.list_downloaded
 */
export const list_downloaded = async (): Promise<Downloaded> =>
  downloadedRpms(['/var/cache/zypp/packages']);
