import { runCommand } from '../_shared/commands/run-command.ts';
import { compareRpm } from '../_shared/text/package-version.ts';
import { CommandExecutionError } from '../api.ts';
import { type Manager, parseNameVersion, runManager, runRefresh } from './package-manager.ts';

/** Matches pacman's message while another process holds the lock. */
const pacmanLocked = /unable to lock database/;

/** Runs pacman. */
export const runPacman = (...args: string[]) => runManager(['pacman', ...args], pacmanLocked);

const rootOf = (root: string | null | undefined): string[] => (root ? ['-r', root] : []);

export const pacman: Manager = {
  // Arch does not support partial upgrades, which lists newer than the system would cause.
  refreshesFirst: false,
  list: async root => {
    const { code, stdout, stderr } = await runCommand(['pacman', '-Q', ...rootOf(root)], {
      plainLocale: true,
      cwd: '/',
    });
    // It ends with 1, without a message, if nothing is installed.
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
    ...rootOf(options.root),
    '--',
    ...words,
  ],
  // As in Salt, purging a package also removes the packages that depend on it.
  remove: (action, names, { root }) => [
    'pacman',
    action === 'purge' ? '-Rsc' : '-R',
    '--noprogressbar',
    '--noconfirm',
    ...rootOf(root),
    '--',
    ...names,
  ],
  upgrade: (names, { root }) => [
    'pacman',
    ...(names.length > 0 ? ['-S', '--needed'] : ['-Su']),
    '--noprogressbar',
    '--noconfirm',
    ...rootOf(root),
    ...(names.length > 0 ? ['--', ...names] : []),
  ],
  refresh: async ({ root }) =>
    parseRefresh(
      await runRefresh(['pacman', '-Sy', '--noprogressbar', ...rootOf(root)], pacmanLocked),
    ),
  candidates: async (names, { root }) => {
    const { stdout } = await runManager(
      ['pacman', '-Si', ...rootOf(root), '--', ...names],
      pacmanLocked,
    );
    return parseSyncInfo(stdout);
  },
  upgrades: async ({ root }) => {
    const { code, stdout, stderr } = await runManager(
      ['pacman', '-S', '-p', '-u', '--print-format', '%n %v', ...rootOf(root)],
      pacmanLocked,
    );
    if (code !== 0)
      throw new CommandExecutionError(`Error listing upgrades: ${stderr.trim() || stdout.trim()}`);
    return parseUpgrades(stdout);
  },
  // Repositories of Arch have one version of each package.
  versions: async name => [...(await pacman.candidates([name], {})).values()],
  locked: pacmanLocked,
};

/** `Name : value` blocks of `pacman -Si`; the first repository that has a package counts. */
const parseSyncInfo = (text: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const block of text.split(/\n\s*\n/)) {
    const value = (key: string): string =>
      new RegExp(`^${key}\\s*:\\s*(\\S+)`, 'm').exec(block)?.[1] ?? '';
    if (value('Name') && !found.has(value('Name'))) found.set(value('Name'), value('Version'));
  }
  return found;
};

/** Lines of ` core is up to date` and ` extra downloading...`, by repository: whether it was new. */
const parseRefresh = (text: string): { [repo: string]: boolean } => {
  const told: { [repo: string]: boolean } = {};
  for (const line of text.split('\n')) {
    const same = /^\s*(\S+) is up to date/.exec(line)?.[1];
    const fresh = /^\s*(?:downloading (\S+?)\.db|(\S+) downloading)/.exec(line);
    if (same) told[same] = false;
    else if (fresh) told[fresh[1] ?? fresh[2] ?? ''] = true;
  }
  return told;
};

/** Lines of `name version`, among notices. */
const parseUpgrades = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap(line => {
      const [name, newest, ...rest] = line.trim().split(/\s+/);
      return name && newest && rest.length === 0 && !name.startsWith(':')
        ? [[name, newest] as const]
        : [];
    }),
  );
