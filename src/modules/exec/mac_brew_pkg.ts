/**
 * Packages of macOS, by Homebrew. Goes by the name `pkg`.
 *
 * @platform macOS
 * @depends brew
 */
import { statSync } from 'node:fs';
import { __grains__, __opts__, CommandExecutionError, type Plain } from '../api.ts';
import { listPkgs, versionOf } from '../lib/package-functions.ts';
import { installedBy } from '../lib/package-manager.ts';
import { compareAlpine } from '../lib/package-version.ts';
import {
  forgetPackages,
  type PackageChanges,
  PackageError,
  type PackageList,
  packageChanges,
  refreshDone,
  targetsOf,
} from '../lib/packages.ts';
import { runCommand } from '../lib/run-command.ts';
import { toList } from '../lib/values.ts';
import { which } from '../lib/which.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.kernel === 'Darwin' && which('brew')
    ? __virtualname__
    : [false, 'This is no macOS system with Homebrew.'];

/** Homebrew refuses to work as root: it runs as the owner of its own folder. */
const brew = async (args: readonly string[]) => {
  const path = which('brew') ?? '/opt/homebrew/bin/brew';
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  return runCommand([path, ...args], {
    plainLocale: true,
    cwd: '/',
    env: { HOMEBREW_NO_AUTO_UPDATE: '1', HOMEBREW_NO_ANALYTICS: '1' },
    ...(owner !== undefined && process.getuid?.() === 0 ? { runas: owner } : {}),
  });
};

const readJson = async (args: readonly string[]): Promise<BrewInfo> => {
  const { code, stdout, stderr } = await brew(['info', '--json=v2', ...args]);
  if (code !== 0) throw new CommandExecutionError(`brew info failed: ${stderr.trim()}`);
  return JSON.parse(stdout) as BrewInfo;
};

type BrewInfo = {
  formulae: {
    name: string;
    full_name: string;
    versions: { stable: string | null };
    installed: { version: string }[];
  }[];
  casks: { token: string; version: string; installed: string | null }[];
};

const manager = { list: async () => _parseBrewInfo(await readJson(['--installed'])) };

const listBrew = (): Promise<PackageList> => installedBy(manager);

/** Formulae by short and full name, casks by token. */
export const _parseBrewInfo = ({ formulae, casks }: BrewInfo): PackageList => {
  const list: PackageList = {};
  for (const { name, full_name, installed } of formulae) {
    const versions = installed.map(one => one.version);
    if (versions.length === 0) continue;
    list[name] = versions;
    if (full_name !== name) list[full_name] = versions;
  }
  for (const { token, installed } of casks) if (installed) list[token] = [installed];
  return list;
};

export const list_pkgs = listPkgs(manager);

export const version = versionOf(manager);

/**
 * The newest version that could be installed; an empty text when it is installed already.
 *
 * @param refresh false: without fetching the formulae first
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.latest_version jq
 */
export const latest_version = async (
  { refresh = true }: { refresh?: boolean; fromrepo?: string | null },
  ...names: string[]
): Promise<string | { [name: string]: string }> => {
  if (refresh) await refresh_db();
  const { formulae, casks } = await readJson(names);
  const newest = new Map([
    ...formulae.map(({ name, versions }) => [name, versions.stable ?? ''] as const),
    ...casks.map(({ token, version: offered }) => [token, offered] as const),
  ]);
  const list = await listBrew();
  const found = names.map(name => {
    const candidate = newest.get(name) ?? '';
    const isDone = (list[name] ?? []).some(have => compareAlpine(have, candidate) >= 0);
    return [name, isDone ? '' : candidate] as const;
  });
  return found.length === 1 ? (found[0]?.[1] ?? '') : Object.fromEntries(found);
};

/**
 * Installs packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the formulae first
 * @param pkgs names of packages
 * @param options options for `brew install`
 * @example tsalt-ssh '*' pkg.install jq
 */
export const install = async (
  name: string | null = null,
  kwargs: {
    refresh?: boolean;
    pkgs?: Plain;
    version?: Plain;
    taps?: Plain;
    options?: Plain;
    reinstall?: boolean;
    [other: string]: unknown;
  } = {},
): Promise<PackageChanges> => {
  const wanted = targetsOf(name, kwargs.pkgs, kwargs.version as Plain);
  const fixed = [...wanted].find(([, version_]) => version_ !== null && version_ !== 'latest');
  if (fixed)
    throw new CommandExecutionError(
      `Homebrew cannot install ${fixed[0]} at version ${fixed[1]}: name a versioned formula, such as ${fixed[0]}@${fixed[1]}.`,
    );
  if (kwargs.refresh) await refresh_db();
  for (const tap of toList(kwargs.taps)) await brew(['tap', tap]);
  return change([
    kwargs.reinstall ? 'reinstall' : 'install',
    ...toList(kwargs.options),
    ...wanted.keys(),
  ]);
};

const change = async (args: readonly string[]): Promise<PackageChanges> => {
  const before = await listBrew();
  const { code, stdout, stderr } = await brew(args);
  forgetPackages();
  const changes = packageChanges(before, await listBrew());
  if (code !== 0)
    throw new PackageError(
      `Problem encountered running brew ${args[0]}`,
      [stderr.trim() || stdout.trim()],
      changes,
    );
  return changes;
};

/**
 * Removes packages and gives what changed.
 *
 * @param name a package, or several with commas
 * @param pkgs names of packages
 * @example tsalt-ssh '*' pkg.remove jq
 */
export const remove = async (
  name: string | null = null,
  kwargs: { pkgs?: Plain; [other: string]: unknown } = {},
): Promise<PackageChanges> => {
  const list = await listBrew();
  const names = [...targetsOf(name, kwargs.pkgs, undefined).keys()].filter(one => list[one]);
  return names.length === 0 ? {} : change(['uninstall', ...names]);
};

/** The same as `pkg.remove`: Homebrew keeps no configuration of its own. */
export const purge = remove;

/**
 * Upgrades all packages and gives what changed.
 *
 * @param refresh false: without fetching the formulae first
 * @example tsalt-ssh '*' pkg.upgrade
 */
export const upgrade = async ({
  refresh = true,
}: {
  refresh?: boolean;
  [other: string]: unknown;
} = {}): Promise<PackageChanges> => {
  if (refresh) await refresh_db();
  return change(['upgrade']);
};

/**
 * The packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the formulae first
 * @example tsalt-ssh '*' pkg.list_upgrades
 */
export const list_upgrades = async ({
  refresh = true,
}: {
  refresh?: boolean;
  [other: string]: unknown;
} = {}): Promise<{ [name: string]: string }> => {
  if (refresh) await refresh_db();
  const { stdout } = await brew(['outdated', '--json=v2']);
  const { formulae, casks } = JSON.parse(stdout) as {
    formulae: { name: string; current_version: string }[];
    casks: { name: string; current_version: string }[];
  };
  return Object.fromEntries(
    [...formulae, ...casks].map(({ name, current_version }) => [name, current_version]),
  );
};

/**
 * Fetches the formulae.
 *
 * @example tsalt-ssh '*' pkg.refresh_db
 */
export const refresh_db = async (): Promise<boolean> => {
  refreshDone();
  if (__opts__.test) return true;
  const { code, stderr } = await brew(['update']);
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return true;
};

/**
 * Which of two versions is newer: -1, 0 or 1.
 *
 * @param pkg1 a version
 * @param pkg2 another
 * @example tsalt-ssh '*' pkg.version_cmp 1.2 1.10
 */
export const version_cmp = async (pkg1: string, pkg2: string): Promise<number> =>
  Math.sign(compareAlpine(pkg1, pkg2));
