import { type Manager, runManager } from './package-manager.ts';
import { compareRpm } from './package-version.ts';
import { installedRpms } from './rpm.ts';

/** A line of zypper's that asks nothing and fetches nothing. */
export const zypperLine = (...args: string[]): [string, ...string[]] => [
  'zypper',
  '--non-interactive',
  '--no-refresh',
  ...args,
];

export const zypper: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => (version === null ? name : `${name}=${version}`),
  install: (action, words, options) =>
    zypperLine(
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
    ),
  installAdvisories: (ids, options) =>
    zypperLine(
      'install',
      '--auto-agree-with-licenses',
      ...(options.downloadonly ? ['--download-only'] : []),
      ...ids.map(id => `patch:${id}`),
    ),
  remove: (_, names) => zypperLine('remove', ...names),
  upgrade: names => zypperLine('update', '--auto-agree-with-licenses', ...names),
  refresh: () => ['zypper', '--non-interactive', 'refresh', '--force'],
  candidates: async names => {
    const { stdout } = await runManager(
      zypperLine('info', '-t', 'package', ...names),
      zypper.locked,
    );
    return parseZypperInfo(stdout);
  },
  upgrades: async () => {
    const { stdout } = await runManager(zypperLine('list-updates'), zypper.locked);
    return parseUpdates(stdout);
  },
  versions: async name => {
    const words = zypperLine('search', '-s', '--match-exact', '-t', 'package', name);
    return parseVersions((await runManager(words, zypper.locked)).stdout);
  },
  locked: /System management is locked by the application/,
};

/** The table of `zypper search -s`: lines `v | name | package | version | arch | repository`. */
const parseVersions = (text: string): string[] => [
  ...new Set(
    text.split('\n').flatMap(line => {
      const [, , type, version] = line.split('|').map(part => part.trim());
      return type === 'package' && version ? [version] : [];
    }),
  ),
];

/** The table of `zypper list-updates`: a line `v | repository | name | current | available | arch`. */
const parseUpdates = (text: string): Map<string, string> =>
  new Map(
    text.split('\n').flatMap(line => {
      const [status, , name, , newest] = line.split('|').map(part => part.trim());
      return status === 'v' && name && newest ? [[name, newest] as const] : [];
    }),
  );

/** `Name : value` blocks of `zypper info`. */
export const parseZypperInfo = (text: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const block of text.split(/^Information for package .*$/m)) {
    const value = (key: string): string =>
      new RegExp(`^${key}\\s*:\\s*(\\S+)`, 'm').exec(block)?.[1] ?? '';
    if (value('Name')) found.set(value('Name'), value('Version'));
  }
  return found;
};
