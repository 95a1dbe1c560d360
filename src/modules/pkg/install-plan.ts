import { messageOf } from '../../protocol/error.ts';
import { getOwn, isPlainDict } from '../../protocol/plain.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import { __env__, __grains__, type Plain, type PlainDict } from '../api.ts';
import { compareVersions, latestVersions, repoChoice } from './desired-packages.ts';
import { fileVersions, localPackage } from './package-file.ts';
import {
  type DesiredPackages,
  fulfills,
  isRefreshDue,
  type PackageList,
  packageSources,
} from './packages.ts';

export type InstallPlan = {
  readonly targets: DesiredPackages;
  readonly again: DesiredPackages;
  readonly altered: Map<string, Plain>;
  readonly unpurge: string[];
  readonly problems: string[];
  readonly hasVersions: boolean;
};

export const planInstall = async (
  desired: DesiredPackages,
  current: PackageList,
  bySource: boolean,
  {
    allow_updates,
    ignore_epoch,
    reinstall,
    verifying,
    pkg_verify,
    rest,
  }: {
    allow_updates: boolean;
    ignore_epoch: boolean | null;
    reinstall: boolean;
    verifying: boolean;
    pkg_verify: Plain;
    rest: Record<string, unknown>;
  },
): Promise<InstallPlan> => {
  const plan = {
    targets: new Map<string, string | null>(),
    again: new Map<string, string | null>(),
    altered: new Map<string, Plain>(),
    unpurge: await unpurgeTargets(desired),
    problems: [] as string[],
    hasVersions: false,
  };
  for (const [name, version] of desired) {
    const have = getOwn(current, name) ?? [];
    if (have.length === 0) plan.targets.set(name, version);
    else if (reinstall) plan.again.set(name, version);
    else if (bySource) {
      const due = await isFileDue(name, version ?? '', have, ignore_epoch, plan.problems);
      if (due) plan.targets.set(name, version);
    } else if (version === null) {
      const altered: Plain = verifying ? await verify(name, pkg_verify, rest) : null;
      if (isPlainDict(altered) && Object.keys(altered).length > 0) {
        plan.again.set(name, version);
        plan.altered.set(name, altered);
      }
    } else {
      plan.hasVersions = true;
      const options = { ignoreEpoch: ignore_epoch, allowUpdates: allow_updates };
      if (!fulfills(have, version, compareVersions, options)) plan.targets.set(name, version);
    }
  }
  return plan;
};

/** Whether a package file has another version than the installed package. */
const isFileDue = async (
  name: string,
  source: string,
  have: readonly string[],
  ignoreEpoch: boolean | null,
  problems: string[],
): Promise<boolean> => {
  const versionOf = fileVersions.get(String(__grains__.os_family));
  if (!versionOf) return false;
  try {
    const path = await localPackage(name, source, String(__env__));
    const version = existsSync(path) ? await versionOf(path) : null;
    if (version === null) problems.push(`${source} does not exist on minion`);
    else if (version === undefined) problems.push(`${source} is no package file`);
    else return !fulfills(have, version, compareVersions, { ignoreEpoch });
  } catch (error) {
    problems.push(messageOf(error));
  }
  return false;
};

const verify = async (
  name: string,
  pkg_verify: Plain,
  rest: Record<string, unknown>,
): Promise<Plain> => {
  const options: PlainDict = {};
  if (Array.isArray(pkg_verify))
    for (const item of pkg_verify) if (isPlainDict(item)) Object.assign(options, item);
  return salt('pkg.verify')(name, { ...rest, ...options });
};

const unpurgeTargets = async (desired: DesiredPackages): Promise<string[]> => {
  if (!hasFunction('pkg.unpurge')) return [];
  const marked = await salt('pkg.list_pkgs')({ purge_desired: true });
  return [...desired.keys()].filter(name => Object.hasOwn(marked, name));
};

export const packagesToInstall = (
  plan: InstallPlan,
  sources: Plain,
): { pkgs?: Plain; sources?: Plain } => {
  const all = new Map([...plan.targets, ...plan.again]);
  if (!sources) return { pkgs: [...all].map(([name, version]) => ({ [name]: version })) };
  return {
    sources: [...packageSources(sources)]
      .filter(([name]) => all.has(name))
      .map(([name, source]) => ({ [name]: source })),
  };
};

export const resolveLatest = async (
  desired: DesiredPackages,
  current: PackageList,
  {
    refresh,
    fromrepo,
    sources,
    rest,
  }: {
    refresh: boolean | null;
    fromrepo: string | null;
    sources: Plain;
    rest: Record<string, unknown>;
  },
): Promise<void> => {
  const names = sources
    ? []
    : [...desired].flatMap(([name, version]) => (version === 'latest' ? [name] : []));
  if (names.length === 0) return;
  const options = { refresh: isRefreshDue(refresh), fromrepo, ...repoChoice(rest) };
  const newest = await latestVersions(names, options);
  for (const name of names)
    desired.set(name, getOwn(newest, name) || getOwn(current, name)?.at(-1) || null);
};

/** Returns why packages cannot be installed, if the manager can determine that beforehand. */
export const notFound = async (
  desired: DesiredPackages,
  current: PackageList,
  {
    skip_suggestions,
    fromrepo,
    sources,
  }: { skip_suggestions: boolean; fromrepo: string | null; sources: Plain },
): Promise<string | undefined> => {
  if (skip_suggestions || sources || !hasFunction('pkg.check_db')) return undefined;
  const names = [...desired.keys()].filter(one => !getOwn(current, one));
  if (names.length === 0) return undefined;
  const found: { [name: string]: { found: boolean; suggestions: string[] } } = await salt(
    'pkg.check_db',
  )(...names, { fromrepo });
  const missing = Object.entries(found).filter(([, info]) => info.found === false);
  const nothing = missing.flatMap(([one, { suggestions }]) => (suggestions.length ? [] : [one]));
  const comments = [
    ...(nothing.length > 0
      ? [
          `The following package(s) were not found, and no possible matches were found in the package db: ${nothing.sort().join(', ')}`,
        ]
      : []),
    ...missing.flatMap(([one, { suggestions }]) =>
      suggestions.length > 0
        ? [`Package '${one}' not found (possible matches: ${suggestions.join(', ')})`]
        : [],
    ),
  ];
  return comments.length > 0 ? comments.join('. ') : undefined;
};
