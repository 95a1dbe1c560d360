import { __opts__, CommandExecutionError, type Plain } from '../api.ts';
import { compareDebian, type VersionCompare } from './package-version.ts';
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
  targetsOf,
} from './packages.ts';
import { pyStr } from './python-text.ts';
import { repackDictList, toList } from './values.ts';

const actions = ['install', 'upgrade', 'downgrade', 'reinstall'] as const;
export type InstallAction = (typeof actions)[number];

/** What tells one package manager from another; what all of them do alike is in this file. */
export type Manager = {
  /** The installed packages, asked of the system. */
  readonly list: () => Promise<PackageList>;
  readonly compare: VersionCompare;
  /** How a package at a version is written on its command line. */
  readonly word: (name: string, version: string | null) => string;
  /** The command that installs, by what has to be done. */
  readonly install: (
    action: InstallAction,
    words: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  /** True: `install` leaves an older package as it is, and `upgrade` is a command of its own. */
  readonly installsOnly?: boolean;
  /** The command that installs what advisories name. */
  readonly installAdvisories?: (
    ids: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  readonly remove: (
    action: 'remove' | 'purge',
    names: readonly string[],
  ) => readonly [string, ...string[]];
  /** The command that upgrades these packages, or all when none is named. */
  readonly upgrade: (
    names: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  /** The command that fetches the package lists. */
  readonly refresh: () => readonly [string, ...string[]];
  /** The newest versions that could be installed. */
  readonly candidates: (
    names: readonly string[],
    options: ManagerOptions,
  ) => Promise<ReadonlyMap<string, string>>;
  /** What an upgrade would bring, with new versions. */
  readonly upgrades: (options: ManagerOptions) => Promise<Iterable<readonly [string, string]>>;
  /** What it says while another one works. */
  readonly locked: RegExp;
  /** All versions of a package that could be installed; needed for `>=1.2`. */
  readonly versions?: (name: string) => Promise<string[]>;
};

/** Arguments that `pkg.install` has in common everywhere. */
export type ManagerOptions = {
  readonly refresh?: boolean;
  readonly pkgs?: Plain;
  readonly sources?: Plain;
  readonly advisory_ids?: Plain;
  readonly version?: Plain;
  readonly fromrepo?: string | null;
  readonly enablerepo?: Plain;
  readonly disablerepo?: Plain;
  readonly skip_verify?: boolean;
  readonly reinstall?: boolean;
  readonly ignore_epoch?: boolean | null;
  readonly downloadonly?: boolean;
  readonly env?: Plain;
  readonly [other: string]: unknown;
};

/** The installed packages, asked once per run. */
export const installedBy = ({ list }: Pick<Manager, 'list'>): Promise<PackageList> =>
  rememberPackages(list);

/** Runs a package manager to an end that is either good or a `CommandExecutionError`. */
export const runManager = async (
  argv: readonly [string, ...string[]],
  locked: RegExp,
  env: Plain | undefined = null,
): Promise<{ code: number; stdout: string; stderr: string }> =>
  runPackager(argv, {
    env: Object.fromEntries(
      Object.entries(repackDictList(env)).map(([name, value]) => [name, pyStr(value)]),
    ),
    locked,
  });

/** `pkg.install` for any manager. */
export const installWith = async (
  manager: Manager,
  name: string | null,
  options: ManagerOptions,
): Promise<PackageChanges> => {
  if (options.advisory_ids) return installAdvisories(manager, options);
  const before = await installedBy(manager);
  const errors: string[] = [];
  const words: Record<InstallAction, string[]> = {
    install: [],
    upgrade: [],
    downgrade: [],
    reinstall: [],
  };
  const again: string[] = [];
  if (options.sources) words.install.push(...packageSources(options.sources).values());
  else
    for (const [one, condition] of targetsOf(name, options.pkgs, options.version as Plain)) {
      const have = before[one] ?? [];
      const version = await pickVersion(manager, one, condition, errors);
      if (version === undefined) continue;
      const action = actionFor(manager, have, version, options.reinstall === true);
      if (action === 'reinstall') again.push(one);
      words[action].push(manager.word(one, version));
    }
  if (options.refresh) await refreshWith(manager);
  for (const action of actions) {
    if (words[action].length === 0) continue;
    const argv = manager.install(action, words[action], options);
    const { code, stdout, stderr } = await runManager(argv, manager.locked, options.env);
    if (code !== 0) errors.push(stderr.trim() || stdout.trim().split('\n').slice(-5).join('\n'));
  }
  forgetPackages();
  const after = await installedBy(manager);
  const changes = packageChanges(before, after);
  for (const one of again)
    changes[one] ??= { old: before[one]?.join(',') ?? '', new: after[one]?.join(',') ?? '' };
  if (errors.length > 0)
    throw new PackageError('Problem encountered installing package(s)', errors, changes);
  return changes;
};

const installAdvisories = async (
  manager: Manager,
  options: ManagerOptions,
): Promise<PackageChanges> => {
  if (!manager.installAdvisories)
    throw new CommandExecutionError('This package manager knows no advisories.');
  if (options.refresh) await refreshWith(manager);
  return upgradeWith(manager, manager.installAdvisories(toList(options.advisory_ids), options));
};

const pickVersion = async (
  { versions, compare }: Manager,
  name: string,
  condition: string | null,
  errors: string[],
): Promise<string | null | undefined> => {
  if (condition === null || condition === 'latest') return null;
  if (!/[<>!*]/.test(condition)) return condition.replace(/^=+/, '');
  const known = (await versions?.(name)) ?? [];
  const found = known
    .toSorted((left, right) => compare(right, left))
    .find(one => fulfills([one], condition, compare));
  if (found === undefined)
    errors.push(
      `No version matching '${name}${condition}' could be found (available: ${known.join(', ') || 'None'})`,
    );
  return found;
};

const actionFor = (
  { compare, installsOnly }: Manager,
  have: readonly string[],
  version: string | null,
  reinstall: boolean,
): InstallAction => {
  if (have.length === 0) return 'install';
  if (version === null) return reinstall ? 'reinstall' : installsOnly ? 'upgrade' : 'install';
  const order = Math.max(...have.map(one => compare(version, one)));
  if (order < 0) return 'downgrade';
  return order === 0 && reinstall ? 'reinstall' : 'install';
};

/** `pkg.remove` and `pkg.purge` for any manager. */
export const removeWith = async (
  manager: Manager,
  action: 'remove' | 'purge',
  name: string | null,
  pkgs: Plain | undefined,
): Promise<PackageChanges> => {
  const before = await installedBy(manager);
  const names = [...targetsOf(name, pkgs, undefined).keys()].filter(one => before[one]);
  if (names.length === 0) return {};
  const { code, stdout, stderr } = await runManager(manager.remove(action, names), manager.locked);
  forgetPackages();
  const changes = packageChanges(before, await installedBy(manager));
  if (code !== 0)
    throw new PackageError(
      'Problem encountered removing package(s)',
      [stderr.trim() || stdout.trim()],
      changes,
    );
  return changes;
};

/** `pkg.upgrade` for any manager. */
export const upgradeWith = async (
  manager: Manager,
  argv: readonly [string, ...string[]],
): Promise<PackageChanges> => {
  const before = await installedBy(manager);
  const { code, stdout, stderr } = await runManager(argv, manager.locked);
  forgetPackages();
  const changes = packageChanges(before, await installedBy(manager));
  if (code !== 0)
    throw new PackageError(
      'Problem encountered upgrading packages',
      [stderr.trim() || stdout.trim()],
      changes,
    );
  return changes;
};

/** `pkg.refresh_db` for any manager. */
export const refreshWith = async ({ refresh, locked }: Manager): Promise<boolean> => {
  refreshDone();
  if (__opts__.test) return true;
  const { code, stdout, stderr } = await runManager(refresh(), locked);
  if (code !== 0) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return true;
};

/** `pkg.latest_version` for any manager: an empty text for what is up to date. */
export const latestWith = async (
  manager: Manager,
  names: readonly string[],
  candidates: ReadonlyMap<string, string>,
): Promise<string | { [name: string]: string }> => {
  const list = await installedBy(manager);
  const newest = names.map(name => {
    const candidate = candidates.get(name) ?? '';
    const isNew =
      candidate !== '' && !(list[name] ?? []).some(have => manager.compare(have, candidate) >= 0);
    return [name, isNew ? candidate : ''] as const;
  });
  return newest.length === 1 ? (newest[0]?.[1] ?? '') : Object.fromEntries(newest);
};

/** Lines of `name version` as a list of packages. */
export const parseNameVersion = (
  text: string,
  compare: VersionCompare = compareDebian,
): PackageList => {
  const list: PackageList = {};
  for (const line of text.split('\n')) {
    const [name, version] = line.trim().split(/\s+/);
    if (name && version) list[name] = [...(list[name] ?? []), version].sort(compare);
  }
  return list;
};
