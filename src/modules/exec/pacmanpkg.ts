/**
 * Packages of Arch Linux, by pacman. Goes by the name `pkg`.
 *
 * @platform Arch
 * @depends pacman
 */
import { __grains__, CommandExecutionError } from '../api.ts';
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
import { installedBy, type Manager, parseNameVersion, runManager } from '../lib/package-manager.ts';
import { compareRpm } from '../lib/package-version.ts';
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
    // It ends with 1 when nothing is installed, and says nothing then.
    if (code !== 0 && stderr.trim() !== '')
      throw new CommandExecutionError(`pacman -Q failed: ${stderr.trim()}`);
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
  upgrade: names => [
    'pacman',
    ...(names.length > 0 ? ['-S', '--needed'] : ['-Su']),
    '--noprogressbar',
    '--noconfirm',
    ...(names.length > 0 ? ['--', ...names] : []),
  ],
  refresh: () => ['pacman', '-Sy', '--noprogressbar'],
  candidates: async names => {
    const { stdout } = await runManager(['pacman', '-Si', '--', ...names], manager.locked);
    return _parseSyncInfo(stdout);
  },
  upgrades: async () => {
    const { stdout } = await runManager(
      ['pacman', '-S', '-p', '-u', '--print-format', '%n %v'],
      manager.locked,
    );
    return _parseUpgrades(stdout);
  },
  // Repositories of Arch have one version of each package.
  versions: async name => [...(await manager.candidates([name], {})).values()],
  locked: /unable to lock database/,
};

/** `Name : value` blocks of `pacman -Si`; the first repository that has a package counts. */
export const _parseSyncInfo = (text: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const block of text.split(/\n\s*\n/)) {
    const value = (key: string): string =>
      new RegExp(`^${key}\\s*:\\s*(\\S+)`, 'm').exec(block)?.[1] ?? '';
    if (value('Name') && !found.has(value('Name'))) found.set(value('Name'), value('Version'));
  }
  return found;
};

/** Lines of `name version`, among notices. */
export const _parseUpgrades = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap(line => {
      const [name, newest, ...rest] = line.trim().split(/\s+/);
      return name && newest && rest.length === 0 && !name.startsWith(':')
        ? [[name, newest] as const]
        : [];
    }),
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
