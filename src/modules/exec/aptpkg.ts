/**
 * Packages of Debian and its kin, by apt and dpkg. Goes by the name `pkg`.
 *
 * @platform Debian, Ubuntu and their kin
 * @depends apt-get, dpkg
 */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  __grains__,
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../api.ts';
import {
  type AptRepo,
  findRepo,
  hasKey,
  type KeyOptions,
  listRepos,
  type RepoOptions,
  removeRepo,
  saveKey,
  saveRepo,
  wantedRepo,
} from '../lib/apt-repos.ts';
import { salt } from '../lib/call.ts';
import { compareDebian, withoutEpoch } from '../lib/package-version.ts';
import {
  forgetPackages,
  fulfills,
  type PackageChanges,
  PackageError,
  type PackageList,
  packageChanges,
  packageSources,
  refreshDone,
  rememberPackages,
  runPackager,
  shownPackages,
  targetsOf,
  type Wanted,
} from '../lib/packages.ts';
import { pyStr } from '../lib/python-text.ts';
import { repackDictList } from '../lib/values.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.os_family === 'Debian' || which('apt-get')
    ? __virtualname__
    : [false, 'apt-get is not there: this is no Debian family system.'];

const noninteractive = {
  DEBIAN_FRONTEND: 'noninteractive',
  APT_LISTBUGS_FRONTEND: 'none',
  APT_LISTCHANGES_FRONTEND: 'none',
  UCF_FORCE_CONFFOLD: '1',
};

const apt = (
  args: readonly string[],
  {
    program = 'apt-get',
    env = {},
    stdin,
  }: { program?: string; env?: PlainDict; stdin?: string } = {},
) =>
  runPackager([program, ...args], {
    env: {
      ...noninteractive,
      ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, pyStr(value)])),
    },
    locked:
      /Could not get lock|is another process using it|Unable to acquire the dpkg frontend lock/,
    ...(stdin === undefined ? {} : { stdin }),
  });

/** Packages as dpkg has them. */
type Listed = { installed: PackageList; removed: PackageList; purge_desired: PackageList };

const listed = (): Promise<Listed> => rememberPackages(readPackages);

const dpkgFields = ['Status', 'Package', 'Version', 'Architecture'];

const readPackages = async (): Promise<Listed> => {
  const { code, stdout, stderr } = await apt(
    ['--showformat', `${dpkgFields.map(field => `\${${field}}`).join(' ')}\n`, '-W'],
    { program: 'dpkg-query' },
  );
  if (code !== 0 && !/no packages found/.test(stderr))
    throw new CommandExecutionError(`dpkg-query failed: ${stderr.trim()}`);
  return _parsePackages(stdout, String(__grains__.osarch ?? ''));
};

/** Lines of `desired error state name version architecture`. */
export const _parsePackages = (text: string, native: string): Listed => {
  const all: Listed = { installed: {}, removed: {}, purge_desired: {} };
  for (const line of text.split('\n')) {
    const [desired, , state, name, version, arch] = line.trim().split(/\s+/);
    if (!desired || !state || !name || !version || !arch) continue;
    const key = arch === 'all' || native === '' || arch === native ? name : `${name}:${arch}`;
    const target =
      (desired === 'install' || desired === 'hold') && state.includes('installed')
        ? all.installed
        : desired === 'deinstall'
          ? all.removed
          : desired === 'purge' && state === 'installed'
            ? all.purge_desired
            : undefined;
    if (target) target[key] = [...(target[key] ?? []), version].sort(compareDebian);
  }
  return all;
};

/**
 * The installed packages with their versions.
 *
 * @param versions_as_list true: a list of versions for each
 * @param removed true: packages that are removed but whose configuration is still there
 * @param purge_desired true: packages marked to be purged that are still installed
 * @param use_context false: ask dpkg again
 * @example tsalt-ssh '*' pkg.list_pkgs
 */
export const list_pkgs = async ({
  versions_as_list = false,
  removed = false,
  purge_desired = false,
  use_context = true,
}: {
  versions_as_list?: boolean;
  removed?: boolean;
  purge_desired?: boolean;
  use_context?: boolean;
} = {}): Promise<{ [name: string]: string | string[] }> => {
  if (!use_context) forgetPackages();
  const all = await listed();
  const list = removed
    ? all.removed
    : purge_desired
      ? all.purge_desired
      : { ...all.purge_desired, ...all.installed };
  return shownPackages(list, versions_as_list);
};

const installedNow = async (): Promise<PackageList> => {
  const { installed, purge_desired } = await listed();
  return { ...purge_desired, ...installed };
};

/**
 * The version of installed packages; an empty text for one that is not installed.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.version openssh-server
 */
export const version = async (...names: string[]): Promise<string | { [name: string]: string }> => {
  const list = await installedNow();
  const found = names.map(name => [name, list[normalize(name)]?.join(',') ?? ''] as const);
  return found.length === 1 ? (found[0]?.[1] ?? '') : Object.fromEntries(found);
};

/**
 * The newest version that could be installed; an empty text when it is installed already.
 *
 * @param refresh false: without fetching the package lists first
 * @param fromrepo the release to look in
 * @param show_installed true: the newest version even when it is installed
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version nginx
 */
export const latest_version = async (
  { refresh = true, fromrepo = null, show_installed = false, cache_valid_time = 0 }: LatestOptions,
  ...names: string[]
): Promise<string | { [name: string]: string }> => {
  if (names.length === 0) return '';
  if (refresh && !__opts__.test) await refresh_db({ cache_valid_time });
  const candidates = await candidatesOf(names, fromrepo);
  const list = await installedNow();
  const newest = names.map(name => {
    const candidate = candidates.get(name) ?? '';
    const have = list[normalize(name)] ?? [];
    const upToDate =
      !show_installed && (candidate === '' || have.some(one => compareDebian(one, candidate) >= 0));
    return [name, have.length > 0 && upToDate ? '' : candidate] as const;
  });
  return newest.length === 1 ? (newest[0]?.[1] ?? '') : Object.fromEntries(newest);
};

type LatestOptions = {
  refresh?: boolean;
  fromrepo?: string | null;
  show_installed?: boolean;
  cache_valid_time?: number;
};

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

/** The candidate versions of many packages by one `apt-cache policy`. */
const candidatesOf = async (
  names: readonly string[],
  fromrepo: string | null,
): Promise<Map<string, string>> => {
  const release = fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : [];
  const { stdout } = await apt(['-q', ...release, 'policy', '--', ...names], {
    program: 'apt-cache',
  });
  return _parsePolicy(stdout);
};

/** `name:` lines, each followed by an indented `Candidate: version`. */
export const _parsePolicy = (text: string): Map<string, string> => {
  const candidates = new Map<string, string>();
  let name = '';
  for (const line of text.split('\n')) {
    const head = /^(\S+):$/.exec(line);
    if (head) name = head[1] ?? '';
    const candidate = /^\s+Candidate:\s+(\S+)/.exec(line)?.[1];
    if (candidate && candidate !== '(none)') candidates.set(name, candidate);
  }
  return candidates;
};

/**
 * Fetches the package lists. True: new, null: as before, false: failed, by source.
 *
 * @param cache_valid_time seconds for which lists that are there are new enough
 * @param failhard true: a source that fails fails the call
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refresh_db = async ({
  cache_valid_time = 0,
  failhard = false,
}: {
  cache_valid_time?: number;
  failhard?: boolean;
} = {}): Promise<{
  [source: string]: boolean | null;
}> => {
  refreshDone();
  if (cache_valid_time > 0 && (await isFresh(cache_valid_time))) return {};
  const { code, stdout, stderr } = await apt(['-q', 'update']);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || 'apt-get update failed');
  const sources: { [source: string]: boolean | null } = {};
  for (const line of stdout.split('\n')) {
    const [kind = '', ...rest] = line.trim().split(/\s+/);
    const source = rest.join(' ').replace(/ \[.+B\]$/, '');
    if (kind.startsWith('Get')) sources[source] = true;
    else if (kind.startsWith('Hit')) sources[source] = null;
    else if (kind.startsWith('Ign') || kind.startsWith('Err')) sources[source] = false;
    if (failhard && kind.startsWith('Err'))
      throw new CommandExecutionError(`Error getting repos: ${source}`);
  }
  return sources;
};

const isFresh = async (seconds: number): Promise<boolean> => {
  try {
    const { mtimeMs } = await stat('/var/lib/apt/lists');
    return mtimeMs + seconds * 1000 > Date.now();
  } catch {
    return false;
  }
};

type InstallOptions = {
  refresh?: boolean;
  fromrepo?: string | null;
  skip_verify?: boolean;
  debconf?: string | null;
  pkgs?: Plain;
  sources?: Plain;
  version?: Plain;
  reinstall?: boolean;
  downloadonly?: boolean;
  ignore_epoch?: boolean | null;
  install_recommends?: boolean | null;
  only_upgrade?: boolean;
  force_conf_new?: boolean;
  force_yes?: boolean;
  cache_valid_time?: number;
  env?: Plain;
  saltenv?: string;
  [other: string]: unknown;
};

/**
 * Installs packages and gives what changed: `{name: {old, new}}`.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the package lists first
 * @param fromrepo the release to install from (`apt-get -t`)
 * @param skip_verify true: install without checking signatures
 * @param debconf a `salt://` file with answers for debconf, loaded first
 * @param pkgs names or `{name: version}`; versions may be `>=1.2` or `1.*`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param reinstall true: install what is installed again
 * @param downloadonly true: download only
 * @param install_recommends false: without recommended packages; true: with them
 * @param only_upgrade true: upgrade only, install nothing new
 * @param force_conf_new true: take the package's configuration files instead of keeping changed ones
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.install nginx refresh=True
 */
export const install = async (
  name: string | null = null,
  options: InstallOptions = {},
): Promise<PackageChanges> => {
  if (options.pkgs && options.sources)
    throw new SaltInvocationError('Only one of "pkgs" and "sources" can be used.');
  if (options.debconf) await salt('debconf.set_file')(options.debconf);
  const before = await installedNow();
  const plan = options.sources
    ? await planFiles(options, before)
    : await planNames(
        targetsOf(name, options.pkgs, options.version as Plain, normalize),
        options,
        before,
      );
  const commands = commandsFor(plan, options);
  const errors = [...plan.errors];
  if (commands.length === 0) return failOrReturn(errors, {}, 'installing');
  if (options.refresh && (await isRefreshUseful(plan, options)))
    await refresh_db({ cache_valid_time: options.cache_valid_time ?? 0 });
  const held = await heldAmong([...plan.names]);
  if (held.length > 0) await unhold(null, { pkgs: held });
  for (const args of commands) {
    const { code, stdout, stderr } = await apt(args, { env: repackDictList(options.env) });
    if (code !== 0) errors.push(stderr.trim() || stdout.trim().split('\n').slice(-5).join('\n'));
  }
  forgetPackages();
  const after = await installedNow();
  if (held.length > 0) await hold(null, { pkgs: held });
  const changes = packageChanges(before, after);
  for (const again of plan.again.keys())
    changes[again] ??= { old: before[again]?.join(',') ?? '', new: after[again]?.join(',') ?? '' };
  return failOrReturn(errors, changes, 'installing');
};

const failOrReturn = (
  errors: readonly string[],
  changes: PackageChanges,
  what: string,
): PackageChanges => {
  if (errors.length > 0)
    throw new PackageError(`Problem encountered ${what} package(s)`, errors, changes);
  return changes;
};

/** What apt-get is told to do: words of its command line. */
type Plan = {
  readonly names: Set<string>;
  readonly targets: string[];
  readonly downgrades: string[];
  /** Reinstallations: word by package. */
  readonly again: Map<string, string>;
  readonly errors: string[];
  readonly wanted: Wanted;
};

const planNames = async (
  wanted: Wanted,
  { reinstall, ignore_epoch }: InstallOptions,
  before: PackageList,
): Promise<Plan> => {
  const plan: Plan = {
    names: new Set(wanted.keys()),
    targets: [],
    downgrades: [],
    again: new Map(),
    errors: [],
    wanted,
  };
  const available = await versionsFor(wanted);
  for (const [name, condition] of wanted) {
    const have = before[name] ?? [];
    if (condition === null || condition === 'latest') {
      if (reinstall && have.length > 0) plan.again.set(name, name);
      else plan.targets.push(name);
      continue;
    }
    const version = /[<>!]/.test(condition)
      ? available
          .get(name)
          ?.find(one => fulfills([one], condition, byEpoch, { ignoreEpoch: ignore_epoch ?? false }))
      : condition.replace(/^=+/, '');
    if (version === undefined) {
      const known = available.get(name)?.join(', ');
      plan.errors.push(
        `No version matching '${name}${condition}' could be found (available: ${known || 'None'})`,
      );
      continue;
    }
    const word = `${name}=${version}`;
    const order = Math.max(...have.map(one => compareDebian(version, one)));
    if (have.length === 0 || order > 0 || version.includes('*')) plan.targets.push(word);
    else if (order < 0) plan.downgrades.push(word);
    else if (reinstall) plan.again.set(name, word);
    else plan.targets.push(word);
  }
  return plan;
};

const byEpoch = (left: string, right: string, ignoreEpoch: boolean): number =>
  ignoreEpoch ? compareDebian(withoutEpoch(left), withoutEpoch(right)) : compareDebian(left, right);

/** The available versions, newest first, of packages that are wanted by a comparison. */
const versionsFor = async (wanted: Wanted): Promise<Map<string, string[]>> => {
  const names = [...wanted].flatMap(([name, condition]) =>
    condition && /[<>!]/.test(condition) ? [name] : [],
  );
  return names.length === 0 ? new Map() : readVersions(names);
};

const readVersions = async (names: readonly string[]): Promise<Map<string, string[]>> => {
  const { stdout } = await apt(['-q', 'madison', '--', ...names], { program: 'apt-cache' });
  const versions = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [name, version] = line.split('|').map(part => part.trim());
    if (!name || !version) continue;
    const known = versions.get(name) ?? [];
    if (!known.includes(version)) versions.set(name, [...known, version]);
  }
  for (const list of versions.values()) list.sort((left, right) => compareDebian(right, left));
  return versions;
};

const planFiles = async (options: InstallOptions, before: PackageList): Promise<Plan> => {
  const plan: Plan = {
    names: new Set(),
    targets: [],
    downgrades: [],
    again: new Map(),
    errors: [],
    wanted: new Map(),
  };
  for (const [name, source] of packageSources(options.sources)) {
    const path = await localFile(name, source, options.saltenv ?? 'base');
    const version = await fileVersion(path);
    const have = before[normalize(name)] ?? [];
    plan.names.add(normalize(name));
    const order =
      version === undefined || have.length === 0
        ? 1
        : Math.max(...have.map(one => compareDebian(version, one)));
    if (order < 0) plan.downgrades.push(path);
    else if (order === 0 && options.reinstall) plan.again.set(normalize(name), path);
    else plan.targets.push(path);
  }
  return plan;
};

const localFile = async (name: string, source: string, saltenv: string): Promise<string> => {
  if (isAbsolute(source)) return source;
  if (!/^[a-z0-9+.-]+:\/\//i.test(source))
    throw new SaltInvocationError(
      `Path ${source} for package ${name} is either not absolute or an invalid protocol`,
    );
  const cached: unknown = await salt('cp.cache_file')(source, { saltenv });
  if (typeof cached === 'string' && cached !== '') return cached;
  throw new CommandExecutionError(`Unable to cache ${source}: file not found`);
};

const fileVersion = async (path: string): Promise<string | undefined> => {
  const { code, stdout } = await apt(['--field', path, 'Version'], { program: 'dpkg-deb' });
  return code === 0 ? stdout.trim() : undefined;
};

const commandsFor = (plan: Plan, options: InstallOptions): string[][] => {
  const conf = options.force_conf_new
    ? ['-o', 'DPkg::Options::=--force-confnew']
    : ['-o', 'DPkg::Options::=--force-confold', '-o', 'DPkg::Options::=--force-confdef'];
  const common = [
    '-q',
    '-y',
    ...conf,
    ...(options.install_recommends === false ? ['--no-install-recommends'] : []),
    ...(options.install_recommends === true ? ['--install-recommends'] : []),
    ...(options.only_upgrade ? ['--only-upgrade'] : []),
    ...(options.skip_verify ? ['--allow-unauthenticated'] : []),
    ...(options.force_yes
      ? ['--allow-downgrades', '--allow-remove-essential', '--allow-change-held-packages']
      : []),
    ...(options.fromrepo && !options.sources ? ['-t', options.fromrepo] : []),
    ...(options.downloadonly ? ['--download-only'] : []),
  ];
  const command = (extra: string[], words: string[]): string[][] =>
    words.length === 0 ? [] : [[...common, ...extra, 'install', '--', ...words]];
  return [
    ...command([], plan.targets),
    ...command(['--allow-downgrades'], plan.downgrades),
    ...command(['--reinstall'], [...plan.again.values()]),
  ];
};

/** With exact versions that apt knows as candidates already, fetching the lists changes nothing. */
const isRefreshUseful = async (plan: Plan, options: InstallOptions): Promise<boolean> => {
  if (options.sources) return false;
  const exact = [...plan.wanted].filter(([, version]) => version !== null);
  if (exact.length < plan.wanted.size || exact.length === 0) return true;
  const candidates = await candidatesOf(
    exact.map(([name]) => name),
    options.fromrepo ?? null,
  );
  return exact.some(([name, version]) => candidates.get(name) !== version);
};

/**
 * Removes packages, keeping their configuration, and gives what changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.remove nginx
 */
export const remove = async (
  name: string | null = null,
  options: { pkgs?: Plain; version?: Plain; env?: Plain; [other: string]: unknown } = {},
): Promise<PackageChanges> => {
  const { installed: changes } = await uninstall('remove', name, options);
  return changes;
};

/**
 * Removes packages with their configuration and gives what changed, `removed` and `installed`.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.purge nginx
 */
export const purge = async (
  name: string | null = null,
  options: { pkgs?: Plain; version?: Plain; env?: Plain; [other: string]: unknown } = {},
): Promise<{ removed: PackageChanges; installed: PackageChanges } | Record<string, never>> => {
  const changes = await uninstall('purge', name, options);
  return changes.any ? { removed: changes.removed, installed: changes.installed } : {};
};

const uninstall = async (
  action: 'remove' | 'purge',
  name: string | null,
  { pkgs, env }: { pkgs?: Plain; env?: Plain },
): Promise<{ any: boolean; removed: PackageChanges; installed: PackageChanges }> => {
  const wanted = targetsOf(name, pkgs, undefined, normalize);
  const before = await listed();
  const have = await installedNow();
  const targets = [...wanted.keys()].filter(
    one => have[one] || (action === 'purge' && before.removed[one]),
  );
  if (targets.length === 0) return { any: false, removed: {}, installed: {} };
  const { code, stdout, stderr } = await apt(['-q', '-y', action, '--', ...targets], {
    env: repackDictList(env),
  });
  forgetPackages();
  const after = await listed();
  const installed = packageChanges(have, await installedNow());
  const removed = packageChanges(before.removed, after.removed);
  if (code !== 0)
    throw new PackageError(
      'Problem encountered removing package(s)',
      [stderr.trim() || stdout.trim()],
      action === 'purge' ? { removed, installed } : installed,
    );
  return { any: true, removed, installed };
};

/**
 * Removes packages that were installed for others only.
 *
 * @param list_only true: give their names and remove nothing
 * @param purge true: with their configuration
 * @example tsalt-ssh '*' pkg.autoremove list_only=True
 */
export const autoremove = async ({
  list_only = false,
  purge: purging = false,
}: {
  list_only?: boolean;
  purge?: boolean;
} = {}): Promise<string[] | PackageChanges> => {
  const options = purging ? ['--purge'] : [];
  if (list_only) {
    const { stdout } = await apt(['-s', ...options, 'autoremove']);
    return [...stdout.matchAll(/^(?:Remv|Purg) (\S+)/gm)].map(match => match[1] ?? '').sort();
  }
  const before = await installedNow();
  await apt(['-q', '-y', ...options, 'autoremove']);
  forgetPackages();
  return packageChanges(before, await installedNow());
};

/**
 * Upgrades all packages and gives what changed.
 *
 * @param refresh false: without fetching the package lists first
 * @param dist_upgrade true: `dist-upgrade`, which may remove packages
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param download_only true: download only
 * @param skip_verify true: install without checking signatures
 * @param force_conf_new true: take the packages' configuration files
 * @param allow_downgrades true: older versions may replace newer ones
 * @param pkgs upgrade these packages only
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrade = async ({
  refresh = true,
  dist_upgrade = false,
  cache_valid_time = 0,
  download_only = false,
  skip_verify = false,
  force_conf_new = false,
  allow_downgrades = false,
  pkgs = null,
}: {
  refresh?: boolean;
  dist_upgrade?: boolean;
  cache_valid_time?: number;
  download_only?: boolean;
  skip_verify?: boolean;
  force_conf_new?: boolean;
  allow_downgrades?: boolean;
  pkgs?: Plain;
  [other: string]: unknown;
} = {}): Promise<PackageChanges> => {
  if (refresh) await refresh_db({ cache_valid_time });
  const before = await installedNow();
  const conf = force_conf_new ? ['--force-confnew'] : ['--force-confold', '--force-confdef'];
  const some = pkgs === null ? [] : [...targetsOf(null, pkgs, undefined).keys()];
  const action =
    some.length > 0
      ? ['--only-upgrade', 'install', '--', ...some]
      : [dist_upgrade ? 'dist-upgrade' : 'upgrade'];
  const { code, stderr } = await apt([
    '-q',
    '-y',
    ...conf.flatMap(option => ['-o', `DPkg::Options::=${option}`]),
    ...(skip_verify ? ['--allow-unauthenticated'] : []),
    ...(download_only ? ['--download-only'] : []),
    ...(allow_downgrades ? ['--allow-downgrades'] : []),
    ...action,
  ]);
  forgetPackages();
  const changes = packageChanges(before, await installedNow());
  if (code !== 0)
    throw new PackageError('Problem encountered upgrading packages', [stderr], changes);
  return changes;
};

/**
 * The packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the package lists first
 * @param dist_upgrade false: those of a plain `upgrade`
 * @param fromrepo the release to upgrade to
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const list_upgrades = async ({
  refresh = true,
  dist_upgrade = true,
  fromrepo = null,
  cache_valid_time = 0,
}: {
  refresh?: boolean;
  dist_upgrade?: boolean;
  fromrepo?: string | null;
  cache_valid_time?: number;
  [other: string]: unknown;
} = {}): Promise<{ [name: string]: string }> => {
  if (refresh && !__opts__.test) await refresh_db({ cache_valid_time });
  const { code, stdout, stderr } = await apt([
    '--just-print',
    ...(fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : []),
    dist_upgrade ? 'dist-upgrade' : 'upgrade',
  ]);
  if (code !== 0)
    throw new CommandExecutionError(`Failed to get upgrades: ${stderr.trim() || stdout.trim()}`);
  return Object.fromEntries(
    [...stdout.matchAll(/^Conf (\S+) \((\S+)/gm)].map(match => [match[1] ?? '', match[2] ?? '']),
  );
};

/**
 * Whether a newer version of a package is available.
 *
 * @param name a package
 * @param refresh true: fetch the package lists first
 * @example tsalt-ssh '*' pkg.upgrade_available nginx
 */
export const upgrade_available = async (
  name: string,
  { refresh = false }: { refresh?: boolean } = {},
): Promise<boolean> => (await latest_version({ refresh }, name)) !== '';

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @param ignore_epoch true: compare without epochs
 * @example tsalt-ssh '*' pkg.version_cmp 0.2.4-0ubuntu1 0.2.4.1-0ubuntu1
 */
export const version_cmp = async (
  pkg1: string,
  pkg2: string,
  { ignore_epoch = false }: { ignore_epoch?: boolean } = {},
): Promise<number> => Math.sign(byEpoch(String(pkg1), String(pkg2), ignore_epoch));

/**
 * A package's name without an architecture that is this system's own.
 *
 * @param name a package, maybe with `:arch`
 * @example tsalt-ssh '*' pkg.normalize_name zsh:amd64
 */
export const normalize_name = async (name: string): Promise<string> => normalize(name);

const normalize = (name: string): string => {
  const [plain = name, arch] = name.split(':');
  return arch === undefined || arch === 'all' || arch === 'any' || arch === __grains__.osarch
    ? plain
    : name;
};

/**
 * Keeps packages at their version.
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.hold nginx
 */
export const hold = async (
  name: string | null = null,
  options: { pkgs?: Plain; sources?: Plain; [other: string]: unknown } = {},
): Promise<HoldResults> => changeHold(name, options, true);

/**
 * Lets packages be upgraded again.
 *
 * @param name a package
 * @param pkgs names of packages
 * @param sources `{name: path}`, of which the names count
 * @example tsalt-ssh '*' pkg.unhold nginx
 */
export const unhold = async (
  name: string | null = null,
  options: { pkgs?: Plain; sources?: Plain; [other: string]: unknown } = {},
): Promise<HoldResults> => changeHold(name, options, false);

type HoldResults = {
  [name: string]: { name: string; changes: PlainDict; result: boolean | null; comment: string };
};

const changeHold = async (
  name: string | null,
  { pkgs, sources }: { pkgs?: Plain; sources?: Plain },
  holding: boolean,
): Promise<HoldResults> => {
  if (!name && !pkgs && !sources)
    throw new SaltInvocationError('One of name, pkgs, or sources must be specified.');
  if (pkgs && sources)
    throw new SaltInvocationError('Only one of pkgs or sources can be specified.');
  const names = sources
    ? [...packageSources(sources).keys()]
    : [...targetsOf(name, pkgs ?? undefined, undefined).keys()];
  const known = await selectionsByName();
  const due = names.filter(one => known.has(one) && (known.get(one) === 'hold') !== holding);
  if (due.length > 0 && !__opts__.test) {
    const lines = due.map(one => `${one} ${holding ? 'hold' : 'install'}\n`).join('');
    const { code, stderr } = await apt(['--set-selections'], { program: 'dpkg', stdin: lines });
    if (code !== 0) throw new CommandExecutionError(`dpkg --set-selections failed: ${stderr}`);
    forgetPackages();
  }
  return Object.fromEntries(
    names.map(one => [one, holdResult(one, known.get(one), holding, due.includes(one))]),
  );
};

const holdResult = (
  name: string,
  state: string | undefined,
  holding: boolean,
  isDue: boolean,
): HoldResults[string] => {
  const answer = (result: boolean | null, comment: string, changes: PlainDict = {}) => ({
    name,
    changes,
    result,
    comment: `Package ${name} ${comment}`,
  });
  if (state === undefined)
    return answer(false, holding ? 'not currently held.' : 'does not have a state.');
  if (!isDue) return answer(true, `is already set ${holding ? '' : 'not '}to be held.`);
  if (__opts__.test) return answer(null, `is set ${holding ? '' : 'not '}to be held.`);
  return answer(true, holding ? 'is now being held.' : 'is no longer being held.', {
    old: state,
    new: holding ? 'hold' : 'install',
  });
};

const selectionsByName = async (): Promise<Map<string, string>> => {
  const { stdout } = await apt(['--get-selections', '*'], { program: 'dpkg' });
  const states = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const [name, state] = line.trim().split(/\s+/);
    if (name && state) states.set(normalize(name), state);
  }
  return states;
};

const heldAmong = async (names: readonly string[]): Promise<string[]> => {
  const states = await selectionsByName();
  return names.filter(name => states.get(name) === 'hold');
};

/**
 * dpkg's selections: names by state (`install`, `hold`, `deinstall`, `purge`).
 *
 * @param pattern names that match this glob only
 * @param state this state only
 * @example tsalt-ssh '*' pkg.get_selections state=hold
 */
export const get_selections = async ({
  pattern = null,
  state = null,
}: {
  pattern?: string | null;
  state?: string | null;
} = {}): Promise<{
  [state: string]: string[];
}> => {
  const { stdout } = await apt(['--get-selections', pattern ?? '*'], { program: 'dpkg' });
  const states: { [state: string]: string[] } = {};
  for (const line of stdout.split('\n')) {
    const [name, found] = line.trim().split(/\s+/);
    if (name && found) states[found] = [...(states[found] ?? []), name];
  }
  return state === null ? states : { [state]: states[state] ?? [] };
};

/**
 * Changes dpkg's selections and gives what changed.
 *
 * @param selection names by state, e.g. `{hold: [nginx]}`
 * @param clear true: mark all other packages to be removed
 * @example tsalt-ssh '*' pkg.set_selections selection='{hold: [nginx]}'
 */
export const set_selections = async ({
  selection,
  clear = false,
}: {
  selection: { [state: string]: string[] };
  clear?: boolean;
}): Promise<{ [name: string]: { old: string; new: string } }> => {
  const valid = ['install', 'hold', 'deinstall', 'purge'];
  const bad = Object.keys(selection).filter(state => !valid.includes(state));
  if (bad.length > 0) throw new SaltInvocationError(`Invalid state(s): ${bad.join(', ')}`);
  const before = await selectionsByName();
  const due = Object.entries(selection).flatMap(([state, names]) =>
    names.filter(name => before.get(name) !== state).map(name => [name, state] as const),
  );
  if (__opts__.test || (due.length === 0 && !clear)) return {};
  if (clear) await apt(['--clear-selections'], { program: 'dpkg' });
  const stdin = due.map(([name, state]) => `${name} ${state}\n`).join('');
  const { code, stderr } = await apt(['--set-selections'], { program: 'dpkg', stdin });
  if (code !== 0) throw new CommandExecutionError(`dpkg --set-selections failed: ${stderr}`);
  forgetPackages();
  return Object.fromEntries(
    due.map(([name, state]) => [name, { old: before.get(name) ?? '', new: state }]),
  );
};

/**
 * Takes back the wish to purge packages that are still installed.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.unpurge nginx
 */
export const unpurge = async (...packages: string[]): Promise<PackageChanges> => {
  const before = await list_pkgs({ purge_desired: true, versions_as_list: true });
  const lines = packages.map(name => `${name} install\n`).join('');
  await apt(['--set-selections'], { program: 'dpkg', stdin: lines });
  forgetPackages();
  const after = await list_pkgs({ purge_desired: true, versions_as_list: true });
  return packageChanges(before as PackageList, after as PackageList);
};

/**
 * All versions that the package sources offer, newest first.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.list_repo_pkgs nginx
 */
export const list_repo_pkgs = async (...names: string[]): Promise<{ [name: string]: string[] }> => {
  if (names.length === 0)
    throw new SaltInvocationError('pkg.list_repo_pkgs needs at least one name.');
  return Object.fromEntries(await readVersions(names));
};

/**
 * The files of packages.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_list nginx
 */
export const file_list = async (
  ...packages: string[]
): Promise<{ errors: string[]; files: string[] }> => {
  const { errors, packages: found } = await file_dict(...packages);
  return { errors, files: Object.values(found).flat() };
};

/**
 * The files of packages, by package.
 *
 * @param packages names of packages
 * @example tsalt-ssh '*' pkg.file_dict nginx
 */
export const file_dict = async (
  ...packages: string[]
): Promise<{ errors: string[]; packages: { [name: string]: string[] } }> => {
  const errors: string[] = [];
  const found: { [name: string]: string[] } = {};
  for (const name of packages) {
    const { code, stdout, stderr } = await apt(['-L', name], { program: 'dpkg-query' });
    if (code === 0) found[name] = stdout.split('\n').filter(line => line.startsWith('/'));
    else errors.push(stderr.trim());
  }
  return { errors, packages: found };
};

/**
 * The package that a file belongs to.
 *
 * @param paths paths of files
 * @example tsalt-ssh '*' pkg.owner /usr/bin/apt
 */
export const owner = async (...paths: string[]): Promise<string | { [path: string]: string }> => {
  const owners: { [path: string]: string } = {};
  for (const path of paths) {
    const { stdout } = await apt(['-S', path], { program: 'dpkg-query' });
    owners[path] = stdout.split('\n')[0]?.split(': ')[0] ?? '';
  }
  return paths.length === 1 ? (owners[paths[0] ?? ''] ?? '') : owners;
};

/**
 * What dpkg knows about installed packages.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_installed nginx
 */
export const info_installed = async (
  ...names: string[]
): Promise<{ [name: string]: { [field: string]: string } }> => {
  const infos: { [name: string]: { [field: string]: string } } = {};
  for (const name of names) {
    const { code, stdout } = await apt(['-s', name], { program: 'dpkg-query' });
    if (code === 0) infos[name] = parseControl(stdout)[0] ?? {};
  }
  return infos;
};

/**
 * What the package sources say about packages, by version.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.show nginx
 */
export const show = async (
  ...names: string[]
): Promise<{ [name: string]: { [version: string]: { [field: string]: string } } }> => {
  const { stdout } = await apt(['show', '--', ...names], { program: 'apt-cache' });
  const all: { [name: string]: { [version: string]: { [field: string]: string } } } = {};
  for (const fields of parseControl(stdout)) {
    const name = fields.Package ?? '';
    all[name] = { ...all[name], [fields.Version ?? '']: fields };
  }
  return all;
};

const parseControl = (text: string): { [field: string]: string }[] =>
  text
    .split(/\n\n+/)
    .filter(block => block.trim() !== '')
    .map(block => {
      const fields: { [field: string]: string } = {};
      let last = '';
      for (const line of block.split('\n')) {
        const match = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(line);
        if (match) {
          last = match[1] ?? '';
          fields[last] = match[2] ?? '';
        } else if (last) fields[last] = `${fields[last]}\n${line.trim()}`;
      }
      return fields;
    });

/**
 * All sources of packages, by address.
 *
 * @param disabled true: those that are switched off only
 * @example tsalt-ssh '*' pkg.list_repos
 */
export const list_repos = async ({
  disabled = null,
}: {
  disabled?: boolean | null;
} = {}): Promise<{ [uri: string]: AptRepo[] }> => {
  const all: { [uri: string]: AptRepo[] } = {};
  for (const repo of listRepos())
    if (disabled === null || repo.disabled === disabled)
      all[repo.uri] = [...(all[repo.uri] ?? []), repo];
  return all;
};

/**
 * A source of packages; an empty dict when it is not there.
 *
 * @param repo its line, as in sources.list
 * @example tsalt-ssh '*' pkg.get_repo 'deb http://apt.example.com/debian bookworm main'
 */
export const get_repo = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<AptRepo | Record<string, never>> => findRepo(repo, options) ?? {};

type AptRepoOptions = RepoOptions &
  KeyOptions & {
    clean_file?: boolean;
    refresh?: boolean;
    refresh_db?: boolean;
    aptkey?: boolean;
    [other: string]: unknown;
  };

/**
 * A source as it would be written down.
 *
 * @param repo its line, as in sources.list
 * @param comps its components
 * @param architectures its architectures
 * @param disabled true: switched off
 * @example tsalt-ssh '*' pkg.expand_repo_def 'deb http://apt.example.com/debian bookworm main'
 */
export const expand_repo_def = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<AptRepo> => wantedRepo(repo, options);

/**
 * Adds or changes a source of packages and gives it.
 *
 * @param repo its line, as in sources.list
 * @param file the file it goes into when it is new; `.sources` for the newer form
 * @param comps its components
 * @param architectures its architectures
 * @param comments a comment beside it
 * @param disabled true: switched off
 * @param key_url where its key is: `https://…`, `salt://…` or a path
 * @param key_text its key, armored
 * @param keyid the key's id, fetched from `keyserver` and checked
 * @param keyserver a key server
 * @param signedby the file of its key (`signed-by`)
 * @param clean_file true: empty `file` first
 * @param refresh false: do not fetch the package lists afterwards
 * @example tsalt-ssh '*' pkg.mod_repo 'deb http://apt.example.com/debian bookworm main' comps=main,contrib
 */
export const mod_repo = async (
  repo: string,
  options: AptRepoOptions = {},
): Promise<AptRepo | Record<string, never>> => {
  const wanted = wantedRepo(repo, options);
  if (options.key_text || options.key_url || options.keyid)
    if (!hasKey(wanted) || options.key_text || wanted.signedby === '')
      await saveKey(wanted, options);
  await saveRepo(repo, options);
  if (options.refresh !== false && options.refresh_db !== false) await refresh_db();
  return get_repo(repo, options);
};

/**
 * Takes a source of packages away.
 *
 * @param repo its line, as in sources.list
 * @example tsalt-ssh '*' pkg.del_repo 'deb http://apt.example.com/debian bookworm main'
 */
export const del_repo = async (repo: string, options: AptRepoOptions = {}): Promise<string> => {
  const files = await removeRepo(repo, options);
  if (files.length === 0)
    throw new CommandExecutionError(`Repo ${repo} doesn't exist in the sources.list(s)`);
  if (options.refresh !== false) await refresh_db();
  return files.map(file => `Repo '${repo}' has been removed from ${file}.`).join('\n');
};
