import { CommandExecutionError, type Plain } from '../api.ts';
import { type Manager, type ManagerOptions, runManager } from './package-manager.ts';
import { compareRpm, withoutEpoch } from './package-version.ts';
import { installedRpms, nativeArch, parseRpmList, rpmFormat } from './rpm.ts';
import { toList } from './values.ts';
import { which } from './which.ts';

export const yumProgram = (): string => (which('dnf') ? 'dnf' : 'yum');

const repoOptions = ({ fromrepo, enablerepo, disablerepo }: ManagerOptions): string[] =>
  fromrepo
    ? ['--disablerepo=*', `--enablerepo=${fromrepo}`]
    : [
        ...toList(disablerepo).map(repo => `--disablerepo=${repo}`),
        ...toList(enablerepo).map(repo => `--enablerepo=${repo}`),
      ];

export const yum: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => {
    if (version === null) return name;
    const arch = /\.(noarch|x86_64|aarch64|i[3-6]86|ppc64le|s390x)$/.exec(name);
    const plain = arch ? name.slice(0, -arch[0].length) : name;
    return `${plain}-${withoutEpoch(version)}${arch?.[0] ?? ''}`;
  },
  installsOnly: true,
  install: (action, words, options) => [
    yumProgram(),
    '-y',
    ...repoOptions(options),
    ...(options.skip_verify ? ['--nogpgcheck'] : []),
    ...(options.downloadonly ? ['--downloadonly'] : []),
    ...(options.update_holds ? ['--disableplugin=versionlock'] : []),
    ...toList(options.setopt as Plain).map(option => `--setopt=${option}`),
    action,
    ...words,
  ],
  installAdvisories: (ids, options) => [
    yumProgram(),
    '-y',
    ...repoOptions(options),
    ...(options.downloadonly ? ['--downloadonly'] : []),
    'upgrade',
    ...ids.map(id => `--advisory=${id}`),
  ],
  remove: (_, names) => [yumProgram(), '-y', 'remove', ...names],
  upgrade: (names, options) => [yumProgram(), '-y', ...repoOptions(options), 'upgrade', ...names],
  refresh: () => [yumProgram(), '-q', '-y', 'makecache'],
  candidates: async (names, options) =>
    new Map(
      [...(await available(names, options, true))].map(([name, versions]) => [
        name,
        versions.at(-1) ?? '',
      ]),
    ),
  upgrades: async options => {
    const { code, stdout, stderr } = await runManager(
      [yumProgram(), '-q', ...repoOptions(options), 'check-update'],
      yum.locked,
    );
    // 100 says that there are updates.
    if (code !== 0 && code !== 100) throw new CommandExecutionError(stderr.trim());
    const updates = parseYumList(stdout.split(/^Obsoleting/m)[0] ?? '', nativeArch());
    return [...updates].map(([name, versions]) => [name, versions.at(-1) ?? ''] as const);
  },
  locked:
    /Another app is currently holding the yum lock|Failed to obtain the transaction lock|Waiting for process/,
  versions: async name => (await available([name], {}, false)).get(name) ?? [],
};

/** Versions that the repositories offer, by name. */
const available = async (
  names: readonly string[],
  options: ManagerOptions,
  newestOnly: boolean,
): Promise<Map<string, string[]>> => {
  if (yumProgram() === 'yum') return availableByYum(names, options);
  const { stdout } = await runManager(
    [
      'dnf',
      '-q',
      ...repoOptions(options),
      'repoquery',
      '--available',
      ...(newestOnly ? ['--latest-limit=1'] : []),
      '--queryformat',
      `${rpmFormat.toLowerCase()}\n`,
      ...names,
    ],
    yum.locked,
  );
  return new Map(Object.entries(parseRpmList(stdout, nativeArch())));
};

const availableByYum = async (
  names: readonly string[],
  options: ManagerOptions,
): Promise<Map<string, string[]>> => {
  const { stdout } = await runManager(
    ['yum', '-q', ...repoOptions(options), 'list', 'available', '--showduplicates', ...names],
    yum.locked,
  );
  return parseYumList(stdout, nativeArch());
};

/** Lines of `name.arch  version  repository`; a long name breaks the line after it. */
export const parseYumList = (text: string, native: string): Map<string, string[]> => {
  const versions = new Map<string, string[]>();
  const joined = text.replace(/^(\S+)\n\s+(\S+\s+\S+)/gm, '$1 $2');
  for (const line of joined.split('\n')) {
    const match = /^(\S+)\.(\S+?)\s+(\S+)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const [, name = '', arch = '', version = ''] = match;
    const key = arch === native || arch === 'noarch' ? name : `${name}.${arch}`;
    const plain = version.replace(/^0:/, '');
    versions.set(key, [...(versions.get(key) ?? []), plain].sort(compareRpm));
  }
  return versions;
};
