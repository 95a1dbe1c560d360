/**
 * Packages of the system, by whatever manages them there.
 *
 * All states of a run refresh the package lists once. With `aggregate: true`, or `state_aggregate` in the
 * configuration, all packages are installed by one call.
 */
import { lowTag } from '../../protocol/low.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import {
  __grains__,
  __opts__,
  CommandExecutionError,
  type LowChunk,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../api.ts';
import { hasFunction, messageOf, salt } from '../lib/call.ts';
import { type Description, describedState } from '../lib/describe.ts';
import { compareAlpine, compareDebian, compareRpm, withoutEpoch } from '../lib/package-version.ts';
import {
  fulfills,
  isRefreshDue,
  makeRefreshDue,
  PackageError,
  type PackageList,
  packageSources,
  type Wanted,
  wantedPackages,
} from '../lib/packages.ts';
import { pyStr } from '../lib/python-text.ts';
import { changed, failed, unchanged, would } from '../lib/returns.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('pkg.install') || [
    false,
    'pkg.install is not available: no package manager is known here.',
  ];

type InstalledOptions = {
  version?: Plain;
  refresh?: boolean | null;
  fromrepo?: string | null;
  skip_verify?: boolean;
  skip_suggestions?: boolean;
  pkgs?: Plain;
  sources?: Plain;
  allow_updates?: boolean;
  pkg_verify?: Plain;
  normalize?: boolean;
  ignore_epoch?: boolean | null;
  reinstall?: boolean;
  update_holds?: boolean;
  hold?: boolean | null;
  cache_valid_time?: number;
  debconf?: string | null;
  install_recommends?: boolean | null;
  [other: string]: unknown;
};

/**
 * Packages are installed, at a version if one is given.
 *
 * @param name a package; not used when `pkgs` or `sources` is given
 * @param version a version, `1.2*`, `>=1.2`, `>=1.2,<2` or `latest`
 * @param refresh fetch the package lists first: true, false, or once per run when not given
 * @param fromrepo the repository or release to install from
 * @param skip_verify true: install without checking signatures
 * @param skip_suggestions true: do not look the name up before installing
 * @param pkgs a list of names and `{name: version}`
 * @param sources a list of `{name: path or URL}` of package files
 * @param allow_updates true: a newer version than the one asked for is fine
 * @param pkg_verify true or options: install altered packages again (where the manager can tell)
 * @param normalize false: take architectures in names as written
 * @param ignore_epoch true: compare versions without epochs
 * @param reinstall true: install what is installed again
 * @param update_holds true: held packages may be changed
 * @param hold true: keep the packages at their version; false: let them be upgraded
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param debconf a `salt://` file with answers for debconf
 * @param install_recommends false: without recommended packages
 * @example
 * web:
 *   pkg.installed:
 *     - pkgs:
 *       - nginx
 *       - curl: '>=7.88'
 */
export const installed = async (
  name: string,
  {
    version = null,
    refresh = null,
    fromrepo = null,
    skip_verify = false,
    skip_suggestions = false,
    pkgs = null,
    sources = null,
    allow_updates = false,
    pkg_verify = false,
    normalize = true,
    ignore_epoch = null,
    reinstall = false,
    update_holds = false,
    hold = null,
    ...rest
  }: InstalledOptions = {},
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, 'No packages to install provided');
  if (pkgs && sources) return failed(name, 'Only one of "pkgs" and "sources" is permitted.');
  const verifying = pkg_verify === true || Array.isArray(pkg_verify);
  if (verifying && !hasFunction('pkg.verify')) return failed(name, 'pkg.verify not implemented');
  let desired: Wanted;
  try {
    desired = await desiredPackages({ name, version, pkgs, sources, normalize });
  } catch {
    return failed(
      name,
      `Invalidly formatted '${pkgs ? 'pkgs' : 'sources'}' parameter. See minion log.`,
    );
  }
  const options = { allow_updates, ignore_epoch, reinstall, verifying, pkg_verify, rest };
  let plan: InstallPlan;
  try {
    const current = await currentPackages();
    const missing = await notFound(desired, current, { skip_suggestions, fromrepo, sources });
    if (missing) return failed(name, missing);
    await resolveLatest(desired, current, { refresh, fromrepo, sources });
    plan = await planInstall(desired, current, sources !== null, options);
  } catch (error) {
    return failed(name, messageOf(error));
  }
  if (plan.problems.length > 0) return failed(name, plan.problems.join(' '));
  if (plan.targets.size + plan.again.size + plan.unpurge.length === 0) {
    const done = unchanged(
      name,
      `All specified packages are already installed${
        plan.hasVersions && !sources ? ' and are at the desired version' : ''
      }`,
    );
    return hold === null ? done : await holdAfter(done, [...desired.keys()], hold);
  }
  if (__opts__.test) return wouldInstall(name, plan, desired, sources !== null, reinstall);
  const words = packagesToInstall(plan, sources);
  let changes: PlainDict = {};
  if (plan.targets.size + plan.again.size > 0)
    try {
      changes = await salt('pkg.install')(null, {
        ...rest,
        refresh: isRefreshDue(refresh),
        fromrepo,
        skip_verify,
        reinstall: plan.again.size > 0,
        normalize,
        update_holds,
        ignore_epoch: ignore_epoch ?? false,
        ...words,
      });
    } catch (error) {
      if (error instanceof PackageError) return failed(name, error.message, error.changes);
      if (error instanceof CommandExecutionError)
        return failed(
          name,
          `An error was encountered while installing package(s): ${error.message}`,
        );
      throw error;
    }
  if (plan.unpurge.length > 0) changes.purge_desired = await salt('pkg.unpurge')(...plan.unpurge);
  const report = await installReport(name, plan, desired, changes, {
    bySource: sources !== null,
    reinstall,
    ignore_epoch,
  });
  return hold === null ? report : await holdAfter(report, [...desired.keys()], hold);
};

/**
 * Packages are installed at the newest version that is available.
 *
 * @param name a package; not used when `pkgs` is given
 * @param refresh fetch the package lists first: true, false, or once per run when not given
 * @param fromrepo the repository or release to install from
 * @param skip_verify true: install without checking signatures
 * @param pkgs a list of names
 * @example
 * openssh-server:
 *   pkg.latest
 */
export const latest = async (
  name: string,
  {
    refresh = null,
    fromrepo = null,
    skip_verify = false,
    pkgs = null,
    sources = null,
    ...rest
  }: InstalledOptions = {},
): Promise<StateReturn> => {
  if (sources) return failed(name, 'The "sources" parameter is not supported.');
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, 'No packages to install provided');
  const names = [...wantedPackages(pkgs ?? [name]).keys()];
  if (names.length === 0)
    return failed(name, 'Invalidly formatted "pkgs" parameter. See minion log.');
  let newest: { [name: string]: string };
  let current: PackageList;
  try {
    newest = await latestVersions(names, { refresh: isRefreshDue(refresh), fromrepo });
    current = await currentPackages();
  } catch (error) {
    return failed(
      name,
      `An error was encountered while checking the newest available version of package(s): ${messageOf(error)}`,
    );
  }
  const unknown = names.filter(one => !newest[one] && !current[one]);
  if (unknown.length > 0)
    return failed(name, unknown.map(one => `No information found for '${one}'.`).join(' '));
  const targets = names.filter(one => newest[one]);
  const done = names.filter(one => !newest[one]).sort();
  if (targets.length === 0) return unchanged(name, upToDate(names));
  if (__opts__.test) {
    const comments = [
      `The following packages would be installed/upgraded: ${targets.toSorted().join(', ')}`,
    ];
    if (done.length > 10) comments.push(`${done.length} packages are already up-to-date`);
    else if (done.length > 0)
      comments.push(
        `The following packages are already up-to-date: ${done
          .map(one => `${one} (${current[one]?.join(',') ?? ''})`)
          .join(', ')}`,
      );
    return would(name, comments.join('\n'));
  }
  let changes: PlainDict;
  try {
    changes = await salt('pkg.install')(null, {
      ...rest,
      refresh: false,
      fromrepo,
      skip_verify,
      pkgs: targets,
    });
  } catch (error) {
    return failed(
      name,
      `An error was encountered while installing package(s): ${messageOf(error)}`,
      error instanceof PackageError ? error.changes : {},
    );
  }
  return latestReport(name, targets, newest, changes, done);
};

/**
 * Packages are removed; their configuration stays.
 *
 * @param name a package; not used when `pkgs` is given
 * @param version remove it only when it has this version
 * @param pkgs a list of names and `{name: version}`
 * @param normalize false: take architectures in names as written
 * @param ignore_epoch true: compare versions without epochs
 * @example
 * telnet:
 *   pkg.removed
 */
export const removed = async (name: string, options: RemovedOptions = {}): Promise<StateReturn> =>
  uninstall('remove', name, options);

/**
 * Packages are removed with their configuration.
 *
 * @param name a package; not used when `pkgs` is given
 * @param version remove it only when it has this version
 * @param pkgs a list of names and `{name: version}`
 * @param normalize false: take architectures in names as written
 * @param ignore_epoch true: compare versions without epochs
 * @example
 * apache2:
 *   pkg.purged
 */
export const purged = async (name: string, options: RemovedOptions = {}): Promise<StateReturn> =>
  uninstall('purge', name, options);

type RemovedOptions = {
  version?: Plain;
  pkgs?: Plain;
  normalize?: boolean;
  ignore_epoch?: boolean | null;
  [other: string]: unknown;
};

/**
 * All packages, or those named, are upgraded.
 *
 * @param name any name
 * @param refresh true: fetch the package lists first
 * @param pkgs upgrade these only
 * @param dist_upgrade true: packages may be removed for it
 * @param fromrepo the release to upgrade to
 * @example
 * everything:
 *   pkg.uptodate:
 *     - refresh: true
 */
export const uptodate = async (
  name: string,
  {
    refresh = false,
    pkgs = null,
    ...rest
  }: { refresh?: boolean; pkgs?: Plain; [other: string]: unknown } = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.list_upgrades')) return failed(name, 'State pkg.uptodate is not available');
  if (typeof refresh !== 'boolean') return failed(name, 'refresh must be either True or False');
  const some = pkgs === null ? null : [...wantedPackages(pkgs).keys()];
  let expected: [string, { old: string; new: string }][];
  try {
    const upgrades: { [name: string]: string } = await salt('pkg.list_upgrades')({
      ...rest,
      refresh: refresh && !__opts__.test,
    });
    const current = await currentPackages();
    expected = Object.entries(upgrades)
      .filter(([one]) => some === null || some.includes(one))
      .map(([one, version]) => [one, { old: current[one]?.join(',') ?? '', new: version }]);
  } catch (error) {
    return failed(name, messageOf(error));
  }
  if (expected.length === 0) return unchanged(name, 'System is already up-to-date');
  if (__opts__.test)
    return would(name, 'System update will be performed', Object.fromEntries(expected));
  let changes: PlainDict;
  try {
    changes = await salt('pkg.upgrade')({ ...rest, refresh: false, pkgs: some });
  } catch (error) {
    if (error instanceof PackageError) return failed(name, error.message, error.changes);
    return failed(name, `An error was encountered while updating packages: ${messageOf(error)}`);
  }
  const missed = some === null ? [] : expected.map(([one]) => one).filter(one => !changes[one]);
  return missed.length > 0
    ? failed(name, `The following package(s) failed to update: ${missed.join(', ')}`, changes)
    : changed(name, 'Upgrade ran successfully', changes);
};

/**
 * A package group is installed (yum, dnf, pacman).
 *
 * @param name the group
 * @param skip default packages of it to leave out
 * @param include further packages
 * @example
 * Development Tools:
 *   pkg.group_installed
 */
export const group_installed = async (
  name: string,
  {
    skip = null,
    include = null,
    ...rest
  }: { skip?: string[] | null; include?: string[] | null; [other: string]: unknown } = {},
): Promise<StateReturn> => {
  if (!hasFunction('pkg.group_diff'))
    return failed(name, 'pkg.group_install not available for this platform');
  for (const [argument, value] of Object.entries({ skip, include }))
    if (value !== null && !Array.isArray(value))
      return failed(name, `${argument} must be formatted as a list`);
  let diff: { [kind: string]: { installed: string[]; 'not installed': string[] } };
  try {
    diff = await salt('pkg.group_diff')(name);
  } catch (error) {
    return failed(
      name,
      `An error was encountered while installing/updating group '${name}': ${messageOf(error)}.`,
    );
  }
  const of = (kind: string, which: 'installed' | 'not installed'): string[] =>
    diff[kind]?.[which] ?? [];
  const mandatory = [...of('mandatory', 'installed'), ...of('mandatory', 'not installed')];
  const invalid = mandatory.filter(one => skip?.includes(one));
  if (invalid.length > 0)
    return failed(
      name,
      `The following mandatory packages cannot be skipped: ${invalid.join(', ')}`,
    );
  const targets = [
    ...of('mandatory', 'not installed'),
    ...of('default', 'not installed').filter(one => !skip?.includes(one)),
    ...(include ?? []).map(String),
  ];
  if (targets.length === 0) return unchanged(name, `Group '${name}' is already installed`);
  const partly = ['mandatory', 'default', 'optional'].some(
    kind => of(kind, 'installed').length > 0,
  );
  if (__opts__.test)
    return would(
      name,
      partly
        ? `Group '${name}' is partially installed and will be updated`
        : `Group '${name}' will be installed`,
    );
  let changes: PlainDict;
  try {
    changes = await salt('pkg.install')(null, { ...rest, pkgs: targets });
  } catch (error) {
    return failed(
      name,
      error instanceof PackageError
        ? error.message
        : `An error was encountered while installing/updating group '${name}': ${messageOf(error)}`,
      error instanceof PackageError ? error.changes : {},
    );
  }
  const current = await currentPackages();
  const missing = targets.filter(one => !current[one]);
  return missing.length > 0
    ? failed(name, `Failed to install the following packages: ${missing.join(', ')}`, changes)
    : changed(name, `Group '${name}' was ${partly ? 'updated' : 'installed'}`, changes);
};

type HeldOptions = {
  version?: Plain;
  pkgs?: Plain;
  replace?: boolean;
  all?: boolean;
  [other: string]: unknown;
};

/**
 * Packages are kept at their version.
 *
 * @param name a package; not used when `pkgs` is given
 * @param version the version to keep (zypper)
 * @param pkgs a list of names
 * @param replace true: let all other packages be upgraded
 * @example
 * kernel:
 *   pkg.held:
 *     - pkgs: [linux-image-amd64]
 */
export const held = async (
  name: string,
  { version = null, pkgs = null, replace = false }: HeldOptions = {},
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0 && !replace)
    return unchanged(name, 'No packages to be held provided');
  if (!hasFunction('pkg.hold'))
    return failed(name, '`hold` function is not implemented for the package manager.');
  const wanted = wantedPackages(pkgs ?? [version === null ? name : { [name]: version }]);
  const locks = await heldPackages();
  const missing = [...wanted.keys()].filter(one => !locks.includes(one));
  const extra = replace ? locks.filter(one => !wanted.has(one)) : [];
  if (__opts__.test)
    return holdReport(
      name,
      [
        ...missing.map(one => `The following package would be held: ${one}`),
        ...extra.map(one => `The following package would be unheld: ${one}`),
      ],
      {},
      true,
    );
  const results = missing.length > 0 ? await salt('pkg.hold')(null, { pkgs: missing }) : {};
  const lifted = extra.length > 0 ? await salt('pkg.unhold')(null, { pkgs: extra }) : {};
  const ok = [...Object.values(results), ...Object.values(lifted)].every(
    one => (one as { result: boolean }).result,
  );
  const comments = [
    ...missing.map(one =>
      results[one]?.result ? `Package ${one} is now being held` : `Package ${one} was not held`,
    ),
    ...Object.values(lifted).map(one => (one as { comment: string }).comment),
  ];
  return holdReport(name, comments, { ...results, ...lifted }, ok);
};

/**
 * Packages may be upgraded.
 *
 * @param name a package; not used when `pkgs` is given
 * @param pkgs a list of names
 * @param all true: all packages
 * @example
 * nginx:
 *   pkg.unheld
 */
export const unheld = async (
  name: string,
  { version = null, pkgs = null, all = false }: HeldOptions = {},
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0 && !all)
    return unchanged(name, 'No packages to be unheld provided');
  if (!hasFunction('pkg.unhold'))
    return failed(name, '`unhold` function is not implemented for the package manager.');
  const wanted = wantedPackages(pkgs ?? [version === null ? name : { [name]: version }]);
  const due = (await heldPackages()).filter(one => all || wanted.has(one));
  if (__opts__.test)
    return holdReport(
      name,
      due.map(one => `The following package would be unheld: ${one}`),
      {},
      true,
    );
  const results = due.length > 0 ? await salt('pkg.unhold')(null, { pkgs: due }) : {};
  const all_ = Object.values(results) as { result: boolean; comment: string }[];
  return holdReport(
    name,
    all_.map(one => one.comment),
    results,
    all_.every(one => one.result),
  );
};

/**
 * All installed packages with their versions, and those that are held.
 *
 * @returns `packages` (one `pkg.installed`), and `held packages` where there are any
 */
export const describe = async (): Promise<Description> => {
  const packages = Object.entries(await currentPackages()).sort(([a], [b]) => (a < b ? -1 : 1));
  const held = hasFunction('pkg.hold') ? await heldPackages() : [];
  // Several versions side by side (kernels) cannot be asked for by one state.
  const pkgs = packages.map(([name, [version = '', ...more]]) =>
    version === '' || more.length > 0 ? name : { [name]: version },
  );
  return {
    ...(pkgs.length > 0 ? { packages: describedState('pkg.installed', { pkgs }) } : {}),
    ...(held.length > 0
      ? { 'held packages': describedState('pkg.held', { pkgs: held.toSorted() }) }
      : {}),
  };
};

/** Makes one refresh of the package lists due: called by the engine before the first pkg state. */
export const mod_init = async (low: LowChunk): Promise<boolean> => {
  if (low.fun !== 'installed' && low.fun !== 'latest') return false;
  makeRefreshDue();
  return true;
};

const aggregated = ['installed', 'latest', 'removed', 'purged'];

/** Puts the packages of all later states of the same function into this one. */
export const mod_aggregate = async (
  low: LowChunk,
  chunks: LowChunk[],
  running: PlainDict,
): Promise<LowChunk> => {
  if (!aggregated.includes(low.fun) || 'hold' in low) return low;
  const kind = 'sources' in low ? 'sources' : 'pkgs';
  const added: Plain[] = [];
  for (const chunk of chunks) {
    const tag = lowTag(chunk);
    if (tag === lowTag(low) || tag in running || chunk.state !== 'pkg') continue;
    if ('__agg__' in chunk || chunk.fun !== low.fun || 'hold' in chunk) continue;
    if ((chunk.fromrepo ?? null) !== (low.fromrepo ?? null)) continue;
    if (('sources' in chunk ? 'sources' : 'pkgs') !== kind) continue;
    added.push(...packagesOf(chunk, kind));
    chunk.__agg__ = true;
  }
  // Once it has `pkgs`, a state does not look at its name any more.
  if (added.length > 0) low[kind] = [...packagesOf(low, kind), ...added];
  low.__agg__ = true;
  return low;
};

const packagesOf = (chunk: LowChunk, kind: 'pkgs' | 'sources'): Plain[] => {
  const list = chunk[kind];
  if (Array.isArray(list)) return list;
  if (isPlainDict(list)) return Object.entries(list).map(([name, value]) => ({ [name]: value }));
  const { name, version } = chunk;
  delete chunk.version;
  return version === undefined || version === null ? [name] : [{ [String(name)]: version }];
};

/** Runs the state again: called by the engine when something it watches has changed. */
export const mod_watch = async (
  name: string,
  { sfun, ...options }: { sfun: string } & PlainDict,
): Promise<StateReturn> => {
  const states = new Map([
    ['purged', purged],
    ['latest', latest],
    ['removed', removed],
    ['installed', installed],
  ]);
  const state = states.get(sfun);
  return state
    ? state(name, options)
    : failed(name, `pkg.${sfun} does not work with the watch requisite`);
};

const currentPackages = async (): Promise<PackageList> =>
  salt('pkg.list_pkgs')({ versions_as_list: true });

const latestVersions = async (
  names: readonly string[],
  options: { refresh: boolean; fromrepo: string | null },
): Promise<{ [name: string]: string }> => {
  const found: unknown = await salt('pkg.latest_version')(...names, options);
  return typeof found === 'string'
    ? { [names[0] ?? '']: found }
    : (found as { [name: string]: string });
};

const desiredPackages = async ({
  name,
  version,
  pkgs,
  sources,
  normalize,
}: {
  name: string;
  version: Plain;
  pkgs: Plain;
  sources: Plain;
  normalize: boolean;
}): Promise<Wanted> => {
  const raw = sources
    ? new Map([...packageSources(sources)].map(([key, value]) => [key, value as string | null]))
    : wantedPackages(pkgs ?? [version === null ? name : { [name]: pyStr(version) }]);
  if (raw.size === 0) throw new CommandExecutionError('no packages');
  if (!normalize || !hasFunction('pkg.normalize_name')) return raw;
  const wanted: Wanted = new Map();
  for (const [key, value] of raw)
    wanted.set(
      key.includes(':') || key.includes('.') ? await salt('pkg.normalize_name')(key) : key,
      value,
    );
  return wanted;
};

/** Why packages cannot be installed, where the manager can tell beforehand. */
const notFound = async (
  desired: Wanted,
  current: PackageList,
  {
    skip_suggestions,
    fromrepo,
    sources,
  }: { skip_suggestions: boolean; fromrepo: string | null; sources: Plain },
): Promise<string | undefined> => {
  if (skip_suggestions || sources || !hasFunction('pkg.check_db')) return undefined;
  const names = [...desired.keys()].filter(one => !current[one]);
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

const resolveLatest = async (
  desired: Wanted,
  current: PackageList,
  {
    refresh,
    fromrepo,
    sources,
  }: { refresh: boolean | null; fromrepo: string | null; sources: Plain },
): Promise<void> => {
  const names = sources
    ? []
    : [...desired].flatMap(([name, version]) => (version === 'latest' ? [name] : []));
  if (names.length === 0) return;
  const newest = await latestVersions(names, { refresh: isRefreshDue(refresh), fromrepo });
  for (const name of names) desired.set(name, newest[name] || current[name]?.at(-1) || null);
};

type InstallPlan = {
  readonly targets: Wanted;
  readonly again: Wanted;
  readonly altered: Map<string, Plain>;
  readonly unpurge: string[];
  readonly problems: string[];
  readonly hasVersions: boolean;
};

const planInstall = async (
  desired: Wanted,
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
    const have = current[name] ?? [];
    if (have.length === 0) plan.targets.set(name, version);
    else if (reinstall) plan.again.set(name, version);
    else if (bySource) continue;
    else if (version === null) {
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

/** How versions are ordered where it is not Debian's way. */
const orders = new Map([
  ['RedHat', compareRpm],
  ['Suse', compareRpm],
  ['Arch', compareRpm],
  ['Alpine', compareAlpine],
  ['MacOS', compareAlpine],
]);

const compareVersions = (left: string, right: string, ignoreEpoch: boolean): number => {
  const compare = orders.get(String(__grains__.os_family)) ?? compareDebian;
  return ignoreEpoch ? compare(withoutEpoch(left), withoutEpoch(right)) : compare(left, right);
};

const unpurgeTargets = async (desired: Wanted): Promise<string[]> => {
  if (!hasFunction('pkg.unpurge')) return [];
  const marked = await salt('pkg.list_pkgs')({ purge_desired: true });
  return [...desired.keys()].filter(name => name in marked);
};

const packagesToInstall = (
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

/** `name=version`, `name>=1.2`, or the name alone. */
const shownPackage = (name: string, wanted: Wanted): string => {
  const version = wanted.get(name) ?? '';
  return `${name}${version === '' || /^[<>=]/.test(version) ? '' : '='}${version}`;
};

const wouldInstall = (
  name: string,
  plan: InstallPlan,
  desired: Wanted,
  bySource: boolean,
  reinstall: boolean,
): StateReturn => {
  const comments: string[] = [];
  const changes: PlainDict = {};
  const due = (names: Iterable<string>): void => {
    for (const one of names) changes[one] = { new: 'installed', old: '' };
  };
  if (plan.targets.size > 0) {
    due(plan.targets.keys());
    comments.push(
      `The following packages would be installed/updated: ${[...plan.targets.keys()].join(', ')}`,
    );
  }
  if (plan.unpurge.length > 0) {
    due(plan.unpurge);
    comments.push(
      `The following packages would have their selection status changed from 'purge' to 'install': ${plan.unpurge.join(', ')}`,
    );
  }
  const again = [...plan.again.keys()].map(one => (bySource ? one : shownPackage(one, plan.again)));
  if (again.length > 0 && reinstall) {
    due(again);
    comments.push(`The following packages would be reinstalled: ${again.join(', ')}`);
  } else
    for (const [one, files] of plan.altered) {
      changes[one] = {};
      comments.push(
        `Package '${shownPackage(one, desired)}' would be reinstalled because the following files have been altered:`,
        Object.keys(isPlainDict(files) ? files : {}).join('\n'),
      );
    }
  return would(name, comments.join('\n'), changes);
};

const installReport = async (
  name: string,
  plan: InstallPlan,
  desired: Wanted,
  changes: PlainDict,
  {
    bySource,
    reinstall,
    ignore_epoch,
  }: { bySource: boolean; reinstall: boolean; ignore_epoch: boolean | null },
): Promise<StateReturn> => {
  const now = await currentPackages();
  const isThere = (one: string): boolean => {
    const have = now[one];
    const version = desired.get(one) ?? null;
    if (!have) return false;
    return (
      bySource ||
      version === null ||
      fulfills(have, version, compareVersions, { ignoreEpoch: ignore_epoch })
    );
  };
  const targets = [...plan.targets.keys()];
  const done = targets.filter(isThere);
  const missed = targets.filter(one => !isThere(one));
  const before = [...desired.keys()].filter(
    one => !plan.targets.has(one) && !plan.again.has(one) && isThere(one),
  );
  const shown = (names: string[]): string =>
    names.map(one => (bySource ? one : shownPackage(one, desired))).join(', ');
  const comments: string[] = [];
  if (missed.length > 0)
    comments.push(`The following packages failed to install/update: ${shown(missed)}`);
  if (done.length > 0)
    comments.push(
      shown(done).length < 20
        ? `The following packages were installed/updated: ${shown(done)}`
        : `${done.length} targeted package${done.length > 1 ? 's were' : ' was'} installed/updated.`,
    );
  if (before.length > 20)
    comments.push(`${before.length} targeted packages were already installed`);
  else if (before.length > 0)
    comments.push(`The following packages were already installed: ${shown(before)}`);
  let ok = missed.length === 0;
  for (const one of plan.again.keys()) {
    const worked = reinstall ? one in changes : isThere(one);
    ok &&= worked;
    comments.push(
      worked
        ? `Package ${shownPackage(one, desired)} was reinstalled.`
        : `Reinstall was not successful for package ${shownPackage(one, desired)}.`,
    );
  }
  return { name, changes, result: ok, comment: comments.join('\n') };
};

/** Adds what holding the packages, or letting them go, came to. */
const holdAfter = async (
  state: StateReturn,
  names: string[],
  hold: boolean,
): Promise<StateReturn> => {
  const action = hold ? 'pkg.hold' : 'pkg.unhold';
  if (!hasFunction(action)) return state;
  let results: { [name: string]: { changes: PlainDict; result: boolean | null; comment: string } };
  try {
    results = await salt(action)(null, { pkgs: names });
  } catch (error) {
    return {
      ...state,
      result: false,
      comment: `${state.comment}\nAn error was encountered while holding/unholding package(s): ${messageOf(error)}`,
    };
  }
  const merged: StateReturn = { ...state, changes: { ...state.changes } };
  for (const [name, { changes, result, comment }] of Object.entries(results)) {
    merged.comment = `${merged.comment}${merged.comment === '' ? '' : '\n'}${comment}`;
    if (result === false || (result === null && merged.result === true)) merged.result = result;
    if (Object.keys(changes).length > 0)
      merged.changes[name] = joinChanges(merged.changes[name], changes);
  }
  return merged;
};

const joinChanges = (before: Plain | undefined, added: PlainDict): PlainDict => {
  if (!isPlainDict(before)) return added;
  const join = (key: string): string =>
    [before[key], added[key]].filter(Boolean).map(String).join('\n');
  return { ...before, old: join('old'), new: join('new') };
};

const heldPackages = async (): Promise<string[]> => {
  if (hasFunction('pkg.list_locks')) return Object.keys(await salt('pkg.list_locks')());
  if (hasFunction('pkg.list_holds')) return salt('pkg.list_holds')({ full: false });
  const selections: { [state: string]: string[] } = await salt('pkg.get_selections')({
    state: 'hold',
  });
  return selections.hold ?? [];
};

const holdReport = (
  name: string,
  comments: string[],
  changes: PlainDict,
  ok: boolean,
): StateReturn => ({
  name,
  changes,
  result: !ok ? false : __opts__.test && comments.length > 0 ? null : true,
  comment: comments.length > 0 ? comments.join('\n') : 'No changes made',
});

const upToDate = (names: readonly string[]): string =>
  names.length > 10
    ? `All ${names.length} packages are up-to-date.`
    : names.length > 1
      ? `All packages are up-to-date (${names.toSorted().join(', ')}).`
      : `Package ${names[0]} is already up-to-date`;

const latestReport = (
  name: string,
  targets: string[],
  newest: { [name: string]: string },
  changes: PlainDict,
  done: string[],
): StateReturn => {
  const updated = (one: string): boolean => {
    const change = changes[one];
    return isPlainDict(change) && (change.new === newest[one] || newest[one] === 'latest');
  };
  const missed = targets.filter(one => !updated(one)).sort();
  const worked = targets.filter(updated).sort();
  const comments: string[] = [];
  if (missed.length > 0)
    comments.push(`The following packages failed to update: ${missed.join(', ')}`);
  if (worked.length > 0)
    comments.push(
      `The following packages were successfully installed/upgraded: ${worked.join(', ')}`,
    );
  if (done.length > 10) comments.push(`${done.length} packages were already up-to-date `);
  else if (done.length > 0)
    comments.push(`The following packages were already up-to-date: ${done.join(', ')}`);
  return { name, changes, result: missed.length === 0, comment: comments.join(' ') };
};

const uninstall = async (
  action: 'remove' | 'purge',
  name: string,
  { version = null, pkgs = null, normalize = true, ignore_epoch = null, ...rest }: RemovedOptions,
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, `No packages to ${action} provided`);
  let targets: string[];
  let wanted: Wanted;
  try {
    wanted = await desiredPackages({ name, version, pkgs, sources: null, normalize });
    const current = await currentPackages();
    const leftovers =
      action === 'purge'
        ? await salt('pkg.list_pkgs')({ versions_as_list: true, removed: true })
        : {};
    const matches = ([one, condition]: [string, string | null]): boolean => {
      const have = current[one];
      return have
        ? condition === null ||
            fulfills(have, condition, compareVersions, { ignoreEpoch: ignore_epoch })
        : false;
    };
    const hasVersions = [...wanted].some(([one, condition]) => condition !== null && current[one]);
    targets = [...wanted].filter(matches).map(([one]) => one);
    targets.push(...[...wanted.keys()].filter(one => one in leftovers && !targets.includes(one)));
    targets.sort();
    if (targets.length === 0)
      return unchanged(
        name,
        action === 'purge'
          ? 'None of the targeted packages are installed or partially installed'
          : `All specified packages${hasVersions ? ' (matching specified versions)' : ''} are already absent`,
      );
  } catch (error) {
    return failed(name, messageOf(error));
  }
  if (__opts__.test)
    return would(
      name,
      `The following packages will be ${action}d: ${targets.join(', ')}.`,
      Object.fromEntries(targets.map(one => [one, { new: `${action}d`, old: '' }])),
    );
  let changes: PlainDict;
  try {
    changes = await salt(`pkg.${action}`)(null, { ...rest, pkgs: targets });
  } catch (error) {
    return failed(name, messageOf(error), error instanceof PackageError ? error.changes : {});
  }
  const now = await currentPackages();
  const left =
    action === 'purge'
      ? await salt('pkg.list_pkgs')({ versions_as_list: true, removed: true })
      : {};
  const missed = targets.filter(one => one in now || one in left);
  if (missed.length > 0)
    return failed(
      name,
      `The following packages failed to ${action}: ${missed.join(', ')}.`,
      changes,
    );
  const absent = [...wanted.keys()].filter(one => !targets.includes(one)).sort();
  return changed(
    name,
    absent.length > 0
      ? `The following packages were not installed: ${absent.join(', ')} The following packages were ${action}d: ${targets.join(', ')}.`
      : `All targeted packages were ${action}d.`,
    changes,
  );
};
