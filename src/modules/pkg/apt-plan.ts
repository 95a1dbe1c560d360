import { basename, join } from 'node:path';
import { getOwn } from '../../protocol/plain.ts';
import { makeTempFolder } from '../_shared/files/temporary.ts';
import { symlinkSync } from '../_shared/safe-fs/fs.ts';
import { compareDebian } from '../_shared/text/package-version.ts';
import type { Plain } from '../api.ts';
import { normalize } from './apt-run.ts';
import { byEpoch, candidatesOf, readVersions } from './apt-versions.ts';
import { debFileVersion, localPackage } from './package-file.ts';
import { type DesiredPackages, fulfills, type PackageList, packageSources } from './packages.ts';

export type InstallOptions = {
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

/** The parts of apt-get's command line. */
type Plan = {
  readonly names: Set<string>;
  readonly targets: string[];
  readonly downgrades: string[];
  /** Reinstallations: the argument for each package. */
  readonly again: Map<string, string>;
  readonly errors: string[];
  readonly wanted: DesiredPackages;
};

export const planNames = async (
  wanted: DesiredPackages,
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
    const have = getOwn(before, name) ?? [];
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

/** Returns the available versions, newest first, of packages that are requested by a comparison. */
const versionsFor = async (wanted: DesiredPackages): Promise<Map<string, string[]>> => {
  const names = [...wanted].flatMap(([name, condition]) =>
    condition && /[<>!]/.test(condition) ? [name] : [],
  );
  return names.length === 0 ? new Map() : readVersions(names);
};

export const planFiles = async (options: InstallOptions, before: PackageList): Promise<Plan> => {
  const plan: Plan = {
    names: new Set(),
    targets: [],
    downgrades: [],
    again: new Map(),
    errors: [],
    wanted: new Map(),
  };
  for (const [name, source] of packageSources(options.sources)) {
    const path = plainPath(await localPackage(name, source, options.saltenv ?? 'base'));
    const version = await debFileVersion(path);
    const have = getOwn(before, normalize(name)) ?? [];
    plan.names.add(normalize(name));
    const isSame = version !== undefined && have.some(one => compareDebian(version, one) === 0);
    // A file with an older version is left to apt, which refuses it unless it is forced.
    if (isSame && options.reinstall) plan.again.set(normalize(name), path);
    else plan.targets.push(path);
  }
  return plan;
};

/**
 * Returns a path that apt accepts: apt silently ignores a file with a colon in its path, such as
 * one in the cache of `http://host:8080/`. Such a file is linked elsewhere during the run.
 */
const plainPath = (path: string): string => {
  if (!path.includes(':')) return path;
  const link = join(makeTempFolder('tsalt-deb-'), basename(path).replaceAll(':', '%3a'));
  symlinkSync(path, link);
  return link;
};

export const commandsFor = (plan: Plan, options: InstallOptions): string[][] => {
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
    // Otherwise apt does not download packages that are installed.
    ...(options.downloadonly ? ['--download-only', '--reinstall'] : []),
  ];
  const command = (extra: string[], words: string[]): string[][] =>
    words.length === 0 ? [] : [[...common, ...extra, 'install', '--', ...words]];
  return [
    ...command([], plan.targets),
    ...command(['--allow-downgrades'], plan.downgrades),
    ...command(['--reinstall'], [...plan.again.values()]),
  ];
};

/** Fetching the lists is useless if all requested versions are exact and already known to apt. */
export const isRefreshUseful = async (plan: Plan, options: InstallOptions): Promise<boolean> => {
  if (options.sources) return false;
  const exact = [...plan.wanted].filter(([, version]) => version !== null);
  if (exact.length < plan.wanted.size || exact.length === 0) return true;
  const candidates = await candidatesOf(
    exact.map(([name]) => name),
    options.fromrepo ?? null,
  );
  return exact.some(([name, version]) => candidates.get(name) !== version);
};
