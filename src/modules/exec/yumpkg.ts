/**
 * Packages of RedHat and its kin, by dnf or yum. Goes by the name `pkg`.
 *
 * @platform RedHat, Fedora, Amazon and their kin
 * @depends dnf or yum, rpm
 */
import { __grains__, CommandExecutionError, type Plain, type PlainDict } from '../api.ts';
import { type IniRepo, listIniRepos, removeIniRepo, saveIniRepo } from '../lib/ini-repos.ts';
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
import { compareRpm, withoutEpoch } from '../lib/package-version.ts';
import { type PackageChanges, shownPackages, targetsOf } from '../lib/packages.ts';
import { installedRpms, nativeArch, parseRpmList, rpmFormat } from '../lib/rpm.ts';
import { toList } from '../lib/values.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'RedHat' && (which('dnf') ?? which('yum'))
    ? __virtualname__
    : [false, 'This is no Red Hat family system with dnf or yum.'];

const program = (): string => (which('dnf') ? 'dnf' : 'yum');

const repoOptions = ({ fromrepo, enablerepo, disablerepo }: ManagerOptions): string[] =>
  fromrepo
    ? ['--disablerepo=*', `--enablerepo=${fromrepo}`]
    : [
        ...toList(disablerepo).map(repo => `--disablerepo=${repo}`),
        ...toList(enablerepo).map(repo => `--enablerepo=${repo}`),
      ];

const manager: Manager = {
  list: installedRpms,
  compare: compareRpm,
  word: (name, version) => {
    if (version === null) return name;
    const arch = /\.(noarch|x86_64|aarch64|i[3-6]86|ppc64le|s390x)$/.exec(name);
    const plain = arch ? name.slice(0, -arch[0].length) : name;
    return `${plain}-${withoutEpoch(version)}${arch?.[0] ?? ''}`;
  },
  install: (action, words, options) => [
    program(),
    '-y',
    ...repoOptions(options),
    ...(options.skip_verify ? ['--nogpgcheck'] : []),
    ...(options.downloadonly ? ['--downloadonly'] : []),
    ...(options.update_holds ? ['--disableplugin=versionlock'] : []),
    ...toList(options.setopt as Plain).map(option => `--setopt=${option}`),
    action,
    ...words,
  ],
  remove: (_, names) => [program(), '-y', 'remove', ...names],
  refresh: ['dnf', '-q', '-y', 'makecache'],
  locked:
    /Another app is currently holding the yum lock|Failed to obtain the transaction lock|Waiting for process/,
  versions: async name => (await available([name], {}, false)).get(name) ?? [],
};

const withProgram = (): Manager => ({ ...manager, refresh: [program(), '-q', '-y', 'makecache'] });

/** Versions that the repositories offer, by name. */
const available = async (
  names: readonly string[],
  options: ManagerOptions,
  newestOnly: boolean,
): Promise<Map<string, string[]>> => {
  if (program() === 'yum') return availableByYum(names, options);
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
    manager.locked,
  );
  return new Map(Object.entries(parseRpmList(stdout, nativeArch())));
};

const availableByYum = async (
  names: readonly string[],
  options: ManagerOptions,
): Promise<Map<string, string[]>> => {
  const { stdout } = await runManager(
    ['yum', '-q', ...repoOptions(options), 'list', 'available', '--showduplicates', ...names],
    manager.locked,
  );
  return _parseYumList(stdout, nativeArch());
};

/** Lines of `name.arch  version  repository`; a long name breaks the line after it. */
export const _parseYumList = (text: string, native: string): Map<string, string[]> => {
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
 * @example tsalt-ssh '*' pkg.version openssh-server
 */
export const version = async (...names: string[]): Promise<string | { [name: string]: string }> =>
  versionWith(manager, names);

/**
 * The newest version that could be installed; an empty text when it is installed already.
 *
 * @param refresh false: without fetching the repositories' data first
 * @param fromrepo this repository only
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latest_version = async (
  { refresh = true, fromrepo = null }: { refresh?: boolean; fromrepo?: string | null },
  ...names: string[]
): Promise<string | { [name: string]: string }> => {
  if (refresh) await refreshWith(withProgram());
  const found = await available(names, { fromrepo }, true);
  const newest = new Map([...found].map(([name, versions]) => [name, versions.at(-1) ?? '']));
  return latestWith(manager, names, newest);
};

/**
 * Installs packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the repositories' data first
 * @param pkgs names or `{name: version}`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param fromrepo this repository only
 * @param enablerepo repositories to switch on for it
 * @param disablerepo repositories to switch off for it
 * @param skip_verify true: without checking signatures
 * @param reinstall true: install what is installed again
 * @param downloadonly true: download only
 * @param update_holds true: held packages may be changed
 * @param setopt settings for dnf, `name=value`
 * @example tsalt-ssh '*' pkg.install nginx
 */
export const install = async (
  name: string | null = null,
  options: ManagerOptions = {},
): Promise<PackageChanges> => installWith(withProgram(), name, options);

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

/** The same as `pkg.remove`: rpm keeps no configuration of its own. */
export const purge = remove;

/**
 * Upgrades all packages, or some, and gives what changed.
 *
 * @param refresh false: without fetching the repositories' data first
 * @param pkgs these packages only
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrade = async ({
  refresh = true,
  pkgs = null,
  ...options
}: ManagerOptions = {}): Promise<PackageChanges> => {
  if (refresh) await refreshWith(withProgram());
  const some = pkgs === null ? [] : [...targetsOf(null, pkgs, undefined).keys()];
  return upgradeWith(manager, [program(), '-y', ...repoOptions(options), 'upgrade', ...some]);
};

/**
 * The packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the repositories' data first
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const list_upgrades = async ({
  refresh = true,
  ...options
}: ManagerOptions = {}): Promise<{ [name: string]: string }> => {
  if (refresh) await refreshWith(withProgram());
  const { code, stdout, stderr } = await runManager(
    [program(), '-q', ...repoOptions(options), 'check-update'],
    manager.locked,
  );
  // 100 says that there are updates.
  if (code !== 0 && code !== 100) throw new CommandExecutionError(stderr.trim());
  const updates = _parseYumList(stdout.split(/^Obsoleting/m)[0] ?? '', nativeArch());
  return Object.fromEntries([...updates].map(([name, versions]) => [name, versions.at(-1) ?? '']));
};

/**
 * Fetches the repositories' data.
 *
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refresh_db = async (): Promise<boolean> => refreshWith(withProgram());

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 0.2-1.el9 0.2.1-1.el9
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
 * The packages that are kept at their version (dnf's versionlock plugin).
 *
 * @example tsalt-ssh '*' pkg.list_holds
 */
export const list_holds = async (
  options: { full?: boolean; pattern?: string } = {},
): Promise<string[]> => {
  const { stdout } = await runManager([program(), '-q', 'versionlock', 'list'], manager.locked);
  const locks = stdout
    .split('\n')
    .filter(line => /^\S+-\d+:/.test(line) || /^\S+-\S+-\S+\.\*/.test(line));
  return options.full === true ? locks : locks.map(_lockedName);
};

/** The package of `nginx-1:1.20.1-14.el9.*`. */
export const _lockedName = (lock: string): string =>
  lock.replace(/^(\S+)-\d+:.*$/, '$1').replace(/^(\S+?)-[^-]+-[^-]+$/, '$1');

/**
 * Keeps packages at their version (dnf's versionlock plugin).
 *
 * @param name a package
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PlainDict> => changeLocks(name, options.pkgs, true);

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
): Promise<PlainDict> => changeLocks(name, options.pkgs, false);

const changeLocks = async (
  name: string | null,
  pkgs: Plain | undefined,
  holding: boolean,
): Promise<PlainDict> => {
  const locked = await list_holds();
  const results: PlainDict = {};
  for (const one of targetsOf(name, pkgs, undefined).keys()) {
    const isDone = locked.includes(one) === holding;
    const { code, stderr, stdout } = isDone
      ? { code: 0, stderr: '', stdout: '' }
      : await runManager(
          [program(), 'versionlock', holding ? 'add' : 'delete', one],
          manager.locked,
        );
    if (/no such command: versionlock/i.test(stderr + stdout))
      throw new CommandExecutionError(
        'Holding packages needs the versionlock plugin: install python3-dnf-plugin-versionlock.',
      );
    const state = holding ? ['install', 'hold'] : ['hold', 'install'];
    results[one] = {
      name: one,
      changes: isDone || code !== 0 ? {} : { old: state[0] ?? '', new: state[1] ?? '' },
      result: code === 0,
      comment:
        code !== 0
          ? `Package ${one} was unable to be ${holding ? 'held' : 'unheld'}.`
          : isDone
            ? `Package ${one} is already ${holding ? 'set to be held' : 'set not to be held'}.`
            : `Package ${one} is ${holding ? 'now' : 'no longer'} being held.`,
    };
  }
  return results;
};

/**
 * The packages of a group by kind.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_info 'Development Tools'
 */
export const group_info = async (name: string): Promise<{ [kind: string]: string[] }> => {
  const { code, stdout, stderr } = await runManager(
    [program(), '-q', 'group', 'info', name],
    manager.locked,
  );
  if (code !== 0 || !/^\s*Group:/m.test(stdout))
    throw new CommandExecutionError(
      `Group '${name}' not found${stderr ? `: ${stderr.trim()}` : ''}`,
    );
  return _parseGroup(stdout);
};

/** The indented lists of `dnf group info`. */
export const _parseGroup = (text: string): { [kind: string]: string[] } => {
  const kinds: { [kind: string]: string[] } = {
    mandatory: [],
    default: [],
    optional: [],
    conditional: [],
  };
  let kind = '';
  for (const line of text.split('\n')) {
    const head = /^\s*(Mandatory|Default|Optional|Conditional) [Pp]ackages\s*:\s*(\S*)/.exec(line);
    const item = head ? head[2] : /^\s*:?\s+[+=-]?(\S+)\s*$/.exec(line)?.[1];
    if (head) kind = (head[1] ?? '').toLowerCase();
    else if (/^\S/.test(line)) kind = '';
    if (kind !== '' && item) kinds[kind]?.push(item);
  }
  return kinds;
};

/**
 * The packages of a group by kind, installed and not.
 *
 * @param name the group
 * @example tsalt-ssh '*' pkg.group_diff 'Development Tools'
 */
export const group_diff = async (
  name: string,
): Promise<{ [kind: string]: { installed: string[]; 'not installed': string[] } }> => {
  const have = await installedBy(manager);
  return Object.fromEntries(
    Object.entries(await group_info(name)).map(([kind, names]) => [
      kind,
      {
        installed: names.filter(one => have[one]),
        'not installed': names.filter(one => !have[one]),
      },
    ]),
  );
};

/** Where repositories are written down; `basedir` says otherwise. */
const foldersOf = (options: { basedir?: Plain }): string[] => {
  const named = toList(options.basedir);
  return named.length > 0 ? named : ['/etc/yum.repos.d', '/etc/yum/repos.d'];
};

/**
 * All repositories by id.
 *
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async (): Promise<{ [id: string]: IniRepo }> =>
  listIniRepos(foldersOf({}));

/**
 * A repository; an empty dict when it is not there.
 *
 * @param repo its id
 * @example tsalt-ssh '*' pkg.get_repo epel
 */
export const get_repo = async (
  repo: string,
  options: RepoOptions = {},
): Promise<IniRepo | Record<string, never>> => listIniRepos(foldersOf(options))[idOf(repo)] ?? {};

type RepoOptions = { basedir?: Plain; [other: string]: unknown };

const idOf = (repo: string): string =>
  repo.startsWith('copr:')
    ? `copr:copr.fedorainfracloud.org:${repo.slice('copr:'.length).replace('/', ':')}`
    : repo;

/** Arguments of `pkgrepo.managed` that are no settings of a repository. */
const noSettings = [
  'file',
  'clean_file',
  'refresh',
  'refresh_db',
  'key_url',
  'key_text',
  'keyid',
  'keyserver',
  'humanname',
  'saltenv',
  'disabled',
  'aptkey',
  'basedir',
];

/**
 * Adds or changes a repository and gives it.
 *
 * @param repo its id
 * @param name its name for people
 * @param baseurl its address
 * @param mirrorlist the address of its list of mirrors
 * @param enabled false: switched off
 * @param gpgcheck true: check signatures
 * @param gpgkey the address of its key
 * @param file the file it goes into when it is new
 * @example tsalt-ssh '*' pkg.mod_repo epel enabled=False
 */
export const mod_repo = async (
  repo: string,
  options: PlainDict = {},
): Promise<IniRepo | Record<string, never>> => {
  if (repo.startsWith('copr:')) {
    const { code, stderr } = await runManager(
      ['dnf', '-y', 'copr', 'enable', repo.slice('copr:'.length)],
      manager.locked,
    );
    if (code !== 0) throw new CommandExecutionError(stderr.trim());
    return get_repo(repo);
  }
  const settings: PlainDict = {};
  for (const [key, value] of Object.entries(options))
    if (!noSettings.includes(key) && value !== undefined) settings[key] = value;
  await saveIniRepo(
    foldersOf(options),
    repo,
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
    typeof options.file === 'string' ? options.file : null,
  );
  return get_repo(repo, options);
};

/**
 * Takes a repository away.
 *
 * @param repo its id
 * @example tsalt-ssh '*' pkg.del_repo epel
 */
export const del_repo = async (repo: string, options: RepoOptions = {}): Promise<string> =>
  removeIniRepo(foldersOf(options), idOf(repo));
