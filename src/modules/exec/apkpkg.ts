/**
 * Packages of Alpine Linux, by apk. Goes by the name `pkg`.
 *
 * @platform Alpine
 * @depends apk
 */
import { __grains__, CommandExecutionError, type Plain } from '../api.ts';
import {
  installedBy,
  installWith,
  latestWith,
  type Manager,
  type ManagerOptions,
  refreshWith,
  removeWith,
  runManager,
  upgradeWith,
  versionWith,
} from '../lib/package-manager.ts';
import { compareAlpine, withoutEpoch } from '../lib/package-version.ts';
import { type PackageChanges, type PackageList, shownPackages } from '../lib/packages.ts';
import { runCommand } from '../lib/run-command.ts';

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
    'add',
    ...(options.skip_verify ? ['--allow-untrusted'] : []),
    ...(action === 'reinstall' ? ['--force-overwrite'] : []),
    ...(options.fromrepo ? ['--repository', options.fromrepo] : []),
    ...words,
  ],
  remove: (action, names) => ['apk', 'del', ...(action === 'purge' ? ['--purge'] : []), ...names],
  refresh: ['apk', 'update'],
  locked: /Unable to lock database: (?:Resource temporarily unavailable|temporary error)/,
  versions: async name => (await readPolicy([name])).get(name) ?? [],
};

const upgradeCommand = ['apk', 'upgrade'] as const satisfies readonly [string, ...string[]];

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
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @example tsalt-ssh '*' pkg.list_pkgs
 */
export const list_pkgs = async ({
  versions_as_list = false,
  removed = false,
  purge_desired = false,
}: {
  versions_as_list?: boolean;
  removed?: boolean;
  purge_desired?: boolean;
  [other: string]: unknown;
} = {}): Promise<{ [name: string]: string | string[] }> =>
  removed || purge_desired ? {} : shownPackages(await installedBy(manager), versions_as_list);

/**
 * The version of installed packages.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.version openssh
 */
export const version = async (...names: string[]): Promise<string | { [name: string]: string }> =>
  versionWith(manager, names);

/**
 * The newest version that could be installed; an empty text when it is installed already.
 *
 * @param refresh false: without fetching the package lists first
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latest_version = async (
  { refresh = true }: { refresh?: boolean; fromrepo?: string | null },
  ...names: string[]
): Promise<string | { [name: string]: string }> => {
  if (refresh) await refreshWith(manager);
  return latestWith(manager, names, await candidates(names));
};

const candidates = async (names: readonly string[]): Promise<Map<string, string>> =>
  new Map(
    [...(await readPolicy(names))].map(([name, versions]) => [
      name,
      versions.toSorted(compareAlpine).at(-1) ?? '',
    ]),
  );

const readPolicy = async (names: readonly string[]): Promise<Map<string, string[]>> => {
  const { stdout } = await runManager(['apk', 'policy', ...names], manager.locked);
  return _parseApkPolicy(stdout);
};

/** `name policy:`, then versions, each followed by the places that have it. */
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

/**
 * Installs packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the package lists first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param reinstall true: install what is installed again
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const install = async (
  name: string | null = null,
  options: ManagerOptions = {},
): Promise<PackageChanges> => installWith(manager, name, options);

/**
 * Removes packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.remove nginx
 */
export const remove = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PackageChanges> => removeWith(manager, 'remove', name, options.pkgs);

/**
 * Removes packages with their configuration and gives what changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.purge nginx
 */
export const purge = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PackageChanges> => removeWith(manager, 'purge', name, options.pkgs);

/**
 * Upgrades all packages and gives what changed.
 *
 * @param refresh false: without fetching the package lists first
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrade = async ({ refresh = true }: ManagerOptions = {}): Promise<PackageChanges> => {
  if (refresh) await refreshWith(manager);
  return upgradeWith(manager, upgradeCommand);
};

/**
 * The packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the package lists first
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const list_upgrades = async ({
  refresh = true,
}: ManagerOptions = {}): Promise<{ [name: string]: string }> => {
  if (refresh) await refreshWith(manager);
  const { stdout } = await runManager(['apk', 'version', '-l', '<'], manager.locked);
  return Object.fromEntries(
    [...stdout.matchAll(/^(\S+)-[^-\s]+-r\d+\s+<\s+(\S+)/gm)].map(match => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );
};

/**
 * Fetches the package lists.
 *
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refresh_db = async (): Promise<boolean> => refreshWith(manager);

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 1.2-1 1.10-1
 */
export const version_cmp = async (
  pkg1: string,
  pkg2: string,
  { ignore_epoch = false }: { ignore_epoch?: boolean } = {},
): Promise<number> =>
  Math.sign(
    ignore_epoch
      ? compareAlpine(withoutEpoch(pkg1), withoutEpoch(pkg2))
      : compareAlpine(pkg1, pkg2),
  );
