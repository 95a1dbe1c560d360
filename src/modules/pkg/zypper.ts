import { hasFunction, salt } from '../_shared/states/call.ts';
import { toList } from '../_shared/states/values.ts';
import { compareRpm } from '../_shared/text/package-version.ts';
import { xmlElements } from '../_shared/text/xml-elements.ts';
import { type Manager, runManager, runRefresh } from './package-manager.ts';
import { installedRpms } from './rpm.ts';
import { readZypper, zypperGood, zypperLine, zypperLocked } from './zypper-run.ts';

export const zypper: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => (version === null ? name : `${name}=${version}`),
  removesVersions: true,
  install: (action, words, options) =>
    zypperLine(
      options.root,
      ...(options.skip_verify ? ['--no-gpg-checks'] : []),
      'install',
      '--auto-agree-with-licenses',
      ...(action === 'downgrade' ? ['--oldpackage'] : []),
      ...(action === 'reinstall' ? ['--force'] : []),
      ...(options.no_recommends ? ['--no-recommends'] : []),
      ...(options.fromrepo ? ['--force', '--force-resolution', '--from', options.fromrepo] : []),
      ...(options.downloadonly ? ['--download-only'] : []),
      options.resolve_capabilities ? '--capability' : '--name',
      ...words,
    ),
  advisories: async ({ root }) =>
    xmlElements(await readZypper(root, 'search', '-t', 'patch'), 'solvable').map(
      ({ attributes }) => attributes.name ?? '',
    ),
  installAdvisories: (ids, options) =>
    zypperLine(
      options.root,
      'install',
      '--auto-agree-with-licenses',
      ...(options.downloadonly ? ['--download-only'] : []),
      ...ids.map(id => `patch:${id}`),
    ),
  remove: (_, names, { root }) => zypperLine(root, 'remove', ...names),
  upgrade: (names, options) =>
    zypperLine(
      options.root,
      ...(options.skip_verify ? ['--no-gpg-checks'] : []),
      options.dist_upgrade ? 'dist-upgrade' : 'update',
      '--auto-agree-with-licenses',
      ...(options.dryrun ? ['--dry-run'] : []),
      ...reposOf(options.fromrepo).flatMap(repo => [
        options.dist_upgrade ? '--from' : '--repo',
        repo,
      ]),
      ...(options.dist_upgrade && options.novendorchange ? ['--no-allow-vendor-change'] : []),
      ...(options.dist_upgrade && options.no_recommends ? ['--no-recommends'] : []),
      ...(options.dist_upgrade ? [] : names),
    ),
  refresh: async ({ root, force }) => {
    const isForced =
      force ??
      (hasFunction('pillar.get') ? await salt('pillar.get')('zypper:refreshdb_force', true) : true);
    const line: [string, ...string[]] = ['zypper', '--non-interactive'];
    if (root) line.push('--root', root);
    line.push('refresh', ...(isForced ? ['--force'] : []));
    return parseRefresh(await runRefresh(line, zypperLocked, zypperGood));
  },
  candidates: async (names, { root }) => {
    const line = zypperLine(root, 'info', '-t', 'package', ...names);
    return parseZypperInfo((await runManager(line, zypperLocked)).stdout);
  },
  upgrades: async ({ root, fromrepo }) => {
    const repos = reposOf(fromrepo).flatMap(repo => ['--repo', repo]);
    return xmlElements(await readZypper(root, 'list-updates', ...repos), 'update')
      .filter(({ attributes }) => attributes.kind === 'package')
      .map(({ attributes }) => [attributes.name ?? '', attributes.edition ?? ''] as const);
  },
  versions: async (name, { root }) => {
    const words = zypperLine(root, 'search', '-s', '--match-exact', '-t', 'package', name);
    return parseVersions((await runManager(words, zypperLocked)).stdout);
  },
  locked: zypperLocked,
  goodCodes: zypperGood,
};

const reposOf = (fromrepo: unknown): string[] => toList(fromrepo as string | string[] | null);

/** Lines of `Repository 'x' is up to date.` and `Building repository 'x' cache .... [done]`. */
const parseRefresh = (text: string): { [repo: string]: boolean } => {
  const told: { [repo: string]: boolean } = {};
  for (const line of text.split('\n')) {
    const name = /^\s*(?:Repository|Building)[^']*'([^']*)'/.exec(line)?.[1];
    if (name === undefined) continue;
    if (line.includes('is up to date')) told[name] = false;
    else if (/^\s*Building/.test(line) && line.includes('done')) told[name] = true;
  }
  return told;
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
