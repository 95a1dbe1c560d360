import { compareRpm, withoutEpoch } from '../_shared/text/package-version.ts';
import { CommandExecutionError } from '../api.ts';
import type { Manager, ManagerOptions } from './package-manager.ts';
import { installedRpms, nativeArch } from './rpm.ts';
import { splitArch } from './rpm-names.ts';
import { changeLock, hasLocks, lockedName, yumLocks } from './yum-locks.ts';
import { available, parseUpdateInfo, parseYumList } from './yum-offers.ts';
import { isDnf, repoOptions, runYum, yumLocked, yumProgram } from './yum-run.ts';

const notExtra = [
  'repo',
  'fromrepo',
  'enablerepo',
  'disablerepo',
  'disableexcludes',
  'branch',
  'setopt',
  'skip_verify',
  'normalize',
  'minimal',
  'obsoletes',
  'diff_attr',
  'saltenv',
  'dist_upgrade',
  'root',
];

/**
 * Further arguments of `pkg.upgrade` are passed to the manager unchanged: `exclude='kernel*'`,
 * `security=True`.
 */
const extraOptions = (options: ManagerOptions): string[] =>
  Object.entries(options)
    .filter(([key]) => !notExtra.includes(key))
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .flatMap(([key, value]) =>
      value === true ? [`--${key}`] : typeof value === 'string' ? [`--${key}=${value}`] : [],
    );

/** How packages are installed and changed: signatures, downloading, repositories. */
const common = (options: ManagerOptions): string[] => [
  ...repoOptions(options),
  ...(options.skip_verify ? ['--nogpgcheck'] : []),
  ...(options.downloadonly ? ['--downloadonly'] : []),
];

/** Without these, dnf would keep an older package, or fail because of a conflicting one. */
const best = (): string[] => (isDnf() ? ['--best', '--allowerasing'] : []);

const upgradeVerb = ({ minimal, obsoletes = true }: ManagerOptions): string =>
  `${obsoletes || isDnf() ? 'upgrade' : 'update'}${minimal ? '-minimal' : ''}`;

export const yum: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => {
    if (version === null) return name;
    const { name: plain, arch } = splitArch(name);
    return `${plain}-${withoutEpoch(version)}${arch === null ? '' : `.${arch}`}`;
  },
  sideBySide: /^kernel(?:-devel)?$/,
  removesVersions: true,
  install: (action, words, options) => [
    yumProgram(),
    '-y',
    ...(action === 'install' ? best() : []),
    ...common(options),
    action,
    ...words,
  ],
  advisories: async () => {
    const { stdout } = await runYum('--quiet', 'updateinfo', 'list', 'all');
    return Object.keys(parseUpdateInfo(stdout));
  },
  installAdvisories: (ids, options) => [
    yumProgram(),
    '-y',
    ...best(),
    ...common(options),
    'upgrade',
    ...ids.map(id => `--advisory=${id}`),
  ],
  remove: (_, names) => [yumProgram(), '-y', 'remove', ...names],
  upgrade: (names, options) => [
    yumProgram(),
    '--quiet',
    '-y',
    ...repoOptions(options),
    ...(options.obsoletes === false && isDnf() ? ['--setopt=obsoletes=False'] : []),
    ...extraOptions(options),
    ...(options.skip_verify ? ['--nogpgcheck'] : []),
    upgradeVerb(options),
    ...names,
  ],
  // Otherwise it would use cached data of the last hours.
  refresh: async options => {
    const repos = repoOptions(options);
    await runYum('--quiet', '--assumeyes', 'clean', 'expire-cache', ...repos);
    const check = ['--quiet', '--assumeyes', 'check-update', ...repos];
    const { code, stdout, stderr } = await runYum(...check);
    if (code !== 0 && code !== updatesThere)
      throw new CommandExecutionError(stderr.trim() || stdout.trim());
    return code === updatesThere ? true : null;
  },
  candidates: async (names, options) =>
    new Map(
      [...(await available(names, options, true))].map(([name, versions]) => [
        name,
        versions.at(-1) ?? '',
      ]),
    ),
  upgrades: async options => {
    const check = ['-q', ...repoOptions(options), 'check-update'];
    const { code, stdout, stderr } = await runYum(...check);
    if (code !== 0 && code !== updatesThere) throw new CommandExecutionError(stderr.trim());
    const updates = parseYumList(stdout.split(/^Obsoleting/m)[0] ?? '', nativeArch());
    return [...updates].map(([name, versions]) => [name, versions.at(-1) ?? ''] as const);
  },
  holds: {
    list: async () => (hasLocks() ? (await yumLocks()).map(lockedName) : []),
    change: async (names, holding) => {
      const failed: string[] = [];
      for (const name of names) if (!(await changeLock(name, holding))) failed.push(name);
      return failed;
    },
  },
  locked: yumLocked,
  versions: async (name, options) => (await available([name], options, false)).get(name) ?? [],
};

/** The exit code of `check-update` if there are updates. */
const updatesThere = 100;
