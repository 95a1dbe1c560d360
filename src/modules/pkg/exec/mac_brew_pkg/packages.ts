/**
 * Manages packages of macOS, with Homebrew. Its virtual name is `pkg`.
 *
 * @platform macOS
 * @depends brew
 */

import { which } from '../../../_shared/commands/which.ts';
import { toList } from '../../../_shared/states/values.ts';
import { compareAlpine } from '../../../_shared/text/package-version.ts';
import { __grains__, __opts__, CommandExecutionError, type Plain } from '../../../api.ts';
import { type BrewInfo, brew, homebrew, listBrew, readBrew } from '../../brew.ts';
import { listPkgs, versionOf } from '../../package-functions.ts';
import {
  forgetPackages,
  type PackageChanges,
  PackageError,
  packageChanges,
  refreshDone,
  targetsOf,
} from '../../packages.ts';

export const __virtualname__ = 'pkg';

export const __virtual__ = (): string | [false, string] =>
  __grains__.kernel === 'Darwin' && which('brew')
    ? __virtualname__
    : [false, 'This is no macOS system with Homebrew.'];

export const list_pkgs = listPkgs(homebrew);

export const version = versionOf(homebrew);

/**
 * Returns the newest available version; an empty string if it is already installed.
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
  const { formulae, casks } = await readBrew(names);
  const newest = new Map([
    ...formulae.flatMap(one => [one.name, one.full_name].map(key => [key, offered(one)] as const)),
    ...casks.flatMap(({ token, full_token = token, version: newer }) =>
      [token, full_token].map(key => [key, newer] as const),
    ),
  ]);
  const list = await listBrew();
  const found = names.map(name => {
    const candidate = newest.get(name) ?? '';
    const isDone = (list[name] ?? []).some(have => compareAlpine(have, candidate) >= 0);
    return [name, isDone ? '' : candidate] as const;
  });
  return found.length === 1 ? (found[0]?.[1] ?? '') : Object.fromEntries(found);
};

/** A formula that was rebuilt at the same version has its revision appended. */
const offered = ({ versions, revision = 0 }: BrewInfo['formulae'][number]): string =>
  `${versions.stable ?? ''}${versions.bottle && revision >= 1 ? `_${revision}` : ''}`;

/** The other name of `pkg.latest_version`. */
export const available_version = latest_version;

/**
 * Returns Homebrew's data about formulae and casks, by name.
 *
 * @param names names of packages
 * @example tsalt-ssh '*' pkg.info_installed jq
 */
export const info_installed = async (...names: string[]): Promise<{ [name: string]: Plain }> => {
  const { formulae, casks } = await readBrew(names);
  const known: [string, Plain][] = [
    ...formulae.flatMap(one =>
      [one.name, one.full_name].map((key): [string, Plain] => [key, one as unknown as Plain]),
    ),
    ...casks.flatMap(one =>
      [one.token, one.full_token ?? one.token].map((key): [string, Plain] => [
        key,
        one as unknown as Plain,
      ]),
    ),
  ];
  return Object.fromEntries(known.filter(([key]) => names.includes(key)));
};

/**
 * Installs packages and returns the changes.
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
 * Removes packages and returns the changes.
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

/** Removes packages, as `pkg.remove` does: Homebrew does not manage configuration files. */
export const purge = remove;

/**
 * Upgrades all packages and returns the changes.
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
 * Lists the packages that an upgrade would change, with their new versions.
 *
 * @param refresh false: without fetching the formulae first
 * @param include_casks true: casks too
 * @example tsalt-ssh '*' pkg.list_upgrades include_casks=True
 */
export const list_upgrades = async ({
  refresh = true,
  include_casks = false,
}: {
  refresh?: boolean;
  include_casks?: boolean;
  [other: string]: unknown;
} = {}): Promise<{ [name: string]: string }> => {
  if (refresh) await refresh_db();
  const { code, stdout, stderr } = await brew(['outdated', '--json=v2']);
  if (code !== 0) throw new CommandExecutionError(`brew outdated failed: ${stderr.trim()}`);
  const { formulae, casks } = JSON.parse(stdout) as {
    formulae: { name: string; current_version: string }[];
    casks: { name: string; current_version: string }[];
  };
  return Object.fromEntries(
    [...formulae, ...(include_casks ? casks : [])].map(({ name, current_version }) => [
      name,
      current_version,
    ]),
  );
};

/**
 * Whether a newer version of a package is available.
 *
 * @param pkg a package
 * @param refresh false: without fetching the formulae first
 * @param include_casks true: include casks
 * @example tsalt-ssh '*' pkg.upgrade_available jq
 */
export const upgrade_available = async (
  pkg: string,
  options: { refresh?: boolean; include_casks?: boolean } = {},
): Promise<boolean> => pkg in (await list_upgrades(options));

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
