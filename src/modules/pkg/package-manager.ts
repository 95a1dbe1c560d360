import { fnmatch } from '../../data/python/glob.ts';
import { getOwn } from '../../protocol/plain.ts';
import { environmentOf } from '../_shared/states/values.ts';
import { compareDebian, type VersionCompare } from '../_shared/text/package-version.ts';
import { __opts__, CommandExecutionError, type Plain } from '../api.ts';
import {
  forgetPackages,
  fulfills,
  type PackageChanges,
  PackageError,
  type PackageList,
  packageChanges,
  refreshDone,
  rememberPackages,
  runPackager,
  targetsOf,
} from './packages.ts';

export const actions = ['install', 'upgrade', 'downgrade', 'reinstall'] as const;
export type InstallAction = (typeof actions)[number];

/** The differences between package managers; this file implements what they have in common. */
export type Manager = {
  /** Lists the packages that are installed on the system, or on the one below a folder. */
  readonly list: (root?: string | null) => Promise<PackageList>;
  readonly compare: VersionCompare;
  /** Returns the argument for a package at a version. */
  readonly word: (name: string, version: string | null) => string;
  /** Returns the command that installs. */
  readonly install: (
    action: InstallAction,
    words: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  /** True: `install` does not upgrade an older package; `upgrade` is a separate command. */
  readonly installsOnly?: boolean;
  /** Returns the known advisories; others are refused. */
  readonly advisories?: (options: ManagerOptions) => Promise<readonly string[]>;
  /** Packages of which several versions are installed side by side. */
  readonly sideBySide?: RegExp;
  /** Returns the command that installs the packages of advisories. */
  readonly installAdvisories?: (
    ids: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  readonly remove: (
    action: 'remove' | 'purge',
    words: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  /** True: several versions of a package may be installed, and a single one can be removed. */
  readonly removesVersions?: boolean;
  /** Returns the command that upgrades these packages, or all if none is named. */
  readonly upgrade: (
    names: readonly string[],
    options: ManagerOptions,
  ) => readonly [string, ...string[]];
  /** False: package lists are fetched only on request. */
  readonly refreshesFirst?: boolean;
  /** Fetches the package lists and returns the outcome. */
  readonly refresh: (options: ManagerOptions) => Promise<Plain>;
  /** Returns the newest available versions. */
  readonly candidates: (
    names: readonly string[],
    options: ManagerOptions,
  ) => Promise<ReadonlyMap<string, string>>;
  /** Lists the packages that an upgrade would change, with their new versions. */
  readonly upgrades: (options: ManagerOptions) => Promise<Iterable<readonly [string, string]>>;
  /** Matches its message while another process holds the lock. */
  readonly locked: RegExp;
  /** The exit codes of success, if 0 is not the only one. */
  readonly goodCodes?: readonly number[];
  /** Lists, sets and removes holds. */
  readonly holds?: {
    readonly list: () => Promise<readonly string[]>;
    readonly change: (names: readonly string[], holding: boolean) => Promise<readonly string[]>;
  };
  /** Returns all available versions of a package; needed for `>=1.2`. */
  readonly versions?: (name: string, options: ManagerOptions) => Promise<string[]>;
};

/** Arguments of `pkg.install` that all managers have. */
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
  readonly update_holds?: boolean;
  readonly root?: string | null;
  readonly env?: Plain;
  readonly [other: string]: unknown;
};

/** Lists the installed packages, once per run; those below a folder are read every time. */
export const installedBy = (
  { list }: Pick<Manager, 'list'>,
  root: string | null = null,
): Promise<PackageList> => (root ? list(root) : rememberPackages(() => list()));

/** Whether a command of this manager succeeded. */
export const isGood = ({ goodCodes = [0] }: Pick<Manager, 'goodCodes'>, code: number): boolean =>
  goodCodes.includes(code);

/** Runs a package manager; throws `CommandExecutionError` if it fails. */
export const runManager = async (
  argv: readonly [string, ...string[]],
  locked: RegExp,
  env: Plain | undefined = null,
): Promise<{ code: number; stdout: string; stderr: string }> =>
  runPackager(argv, {
    env: environmentOf(env),
    locked,
  });

/** `pkg.remove` and `pkg.purge` for any manager. */
export const removeWith = async (
  manager: Manager,
  action: 'remove' | 'purge',
  name: string | null,
  { pkgs, ...options }: ManagerOptions,
): Promise<PackageChanges> => {
  const { root = null } = options;
  const before = await installedBy(manager, root);
  const words = [...targetsOf(name, pkgs, undefined)].flatMap(([one, condition]) =>
    Object.keys(before)
      .filter(have => have === one || (one.includes('*') && fnmatch(have, one)))
      .flatMap(have => removedWords(manager, have, getOwn(before, have) ?? [], condition)),
  );
  if (words.length === 0) return {};
  const argv = manager.remove(action, words, options);
  const { code, stdout, stderr } = await runManager(argv, manager.locked);
  forgetPackages();
  const changes = packageChanges(before, await installedBy(manager, root));
  if (!isGood(manager, code))
    throw new PackageError(
      'Problem encountered removing package(s)',
      [stderr.trim() || stdout.trim()],
      changes,
    );
  return changes;
};

/** Returns the arguments for a package: its name, or the versions to remove if others stay. */
const removedWords = (
  { removesVersions, compare, word }: Manager,
  name: string,
  have: readonly string[],
  condition: string | null,
): string[] => {
  if (condition === null) return [name];
  const meant = have.filter(one => fulfills([one], condition, compare));
  if (meant.length === 0) return [];
  return removesVersions && meant.length < have.length
    ? meant.map(version => word(name, version))
    : [name];
};

/** `pkg.upgrade` for any manager. */
export const upgradeWith = async (
  manager: Manager,
  argv: readonly [string, ...string[]],
  { root = null }: ManagerOptions = {},
): Promise<PackageChanges> => {
  const before = await installedBy(manager, root);
  const { code, stdout, stderr } = await runManager(argv, manager.locked);
  forgetPackages();
  const changes = packageChanges(before, await installedBy(manager, root));
  if (!isGood(manager, code))
    throw new PackageError(
      'Problem encountered upgrading packages',
      [stderr.trim() || stdout.trim()],
      changes,
    );
  return changes;
};

/** `pkg.refresh_db` for any manager. */
export const refreshWith = async (
  { refresh }: Manager,
  options: ManagerOptions = {},
): Promise<Plain> => {
  refreshDone();
  return __opts__.test ? true : refresh(options);
};

/** Runs the command that fetches package lists; returns its output. */
export const runRefresh = async (
  argv: readonly [string, ...string[]],
  locked: RegExp,
  goodCodes: readonly number[] = [0],
): Promise<string> => {
  const { code, stdout, stderr } = await runManager(argv, locked);
  if (!goodCodes.includes(code)) throw new CommandExecutionError(stderr.trim() || stdout.trim());
  return stdout;
};

/**
 * Implements `pkg.latest_version` for any manager: an empty string for packages that are up to
 * date.
 */
export const latestWith = async (
  manager: Manager,
  names: readonly string[],
  candidates: ReadonlyMap<string, string>,
  root: string | null = null,
): Promise<string | { [name: string]: string }> => {
  const list = await installedBy(manager, root);
  const newest = names.map(name => {
    const candidate = candidates.get(name) ?? '';
    const isNew =
      candidate !== '' &&
      !(getOwn(list, name) ?? []).some(have => manager.compare(have, candidate) >= 0);
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
    if (name && version) list[name] = [...(getOwn(list, name) ?? []), version].sort(compare);
  }
  return list;
};
