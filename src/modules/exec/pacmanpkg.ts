/**
 * Packages of Arch Linux, by pacman. Goes by the name `pkg`.
 *
 * @platform Arch
 * @depends pacman
 */
import { __grains__, CommandExecutionError, type Plain } from '../api.ts';
import {
  installedBy,
  installWith,
  latestWith,
  type Manager,
  type ManagerOptions,
  parseNameVersion,
  refreshWith,
  removeWith,
  runManager,
  upgradeWith,
  versionWith,
} from '../lib/package-manager.ts';
import { compareRpm, withoutEpoch } from '../lib/package-version.ts';
import { type PackageChanges, shownPackages } from '../lib/packages.ts';
import { runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Arch' && which('pacman')
    ? __virtualname__
    : [false, 'This is no Arch system with pacman.'];

const manager: Manager = {
  list: async () => {
    const { code, stdout, stderr } = await runCommand(['pacman', '-Q'], {
      plainLocale: true,
      cwd: '/',
    });
    if (code !== 0) throw new CommandExecutionError(`pacman -Q failed: ${stderr.trim()}`);
    return parseNameVersion(stdout, compareRpm);
  },
  compare: compareRpm,
  word: (name, version) => (version === null ? name : `${name}=${version}`),
  install: (action, words, options) => [
    'pacman',
    options.sources ? '-U' : '-S',
    '--noprogressbar',
    '--noconfirm',
    ...(action === 'install' ? ['--needed'] : []),
    ...(options.sysupgrade ? ['-u'] : []),
    '--',
    ...words,
  ],
  remove: (action, names) => [
    'pacman',
    action === 'purge' ? '-Rsn' : '-R',
    '--noprogressbar',
    '--noconfirm',
    '--',
    ...names,
  ],
  refresh: ['pacman', '-Sy', '--noprogressbar'],
  locked: /unable to lock database/,
};

const upgradeCommand = [
  'pacman',
  '-Su',
  '--noprogressbar',
  '--noconfirm',
] as const satisfies readonly [string, ...string[]];

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

const candidates = async (names: readonly string[]): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const { stdout } = await runManager(['pacman', '-Si', '--', ...names], manager.locked);
  for (const block of stdout.split(/\n\s*\n/)) {
    const value = (key: string): string =>
      new RegExp(`^${key}\\s*:\\s*(\\S+)`, 'm').exec(block)?.[1] ?? '';
    if (value('Name') && !found.has(value('Name'))) found.set(value('Name'), value('Version'));
  }
  return found;
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
  const { stdout } = await runManager(
    ['pacman', '-S', '-p', '-u', '--print-format', '%n %v'],
    manager.locked,
  );
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [name, newest, ...rest] = line.trim().split(/\s+/);
      return name && newest && rest.length === 0 && !name.startsWith(':') ? [[name, newest]] : [];
    }),
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
    ignore_epoch ? compareRpm(withoutEpoch(pkg1), withoutEpoch(pkg2)) : compareRpm(pkg1, pkg2),
  );

/**
 * The packages of a group by kind, installed and not.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_diff base-devel
 */
export const group_diff = async (
  name: string,
): Promise<{ [kind: string]: { installed: string[]; 'not installed': string[] } }> => {
  const { code, stdout } = await runManager(['pacman', '-Sgq', name], manager.locked);
  if (code !== 0) throw new CommandExecutionError(`Group '${name}' not found`);
  const have = await installedBy(manager);
  const names = stdout.split('\n').filter(line => line !== '');
  return {
    default: {
      installed: names.filter(one => have[one]),
      'not installed': names.filter(one => !have[one]),
    },
  };
};
