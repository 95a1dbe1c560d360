/**
 * Manages the system's packages with its package manager.
 *
 * All states of a run refresh the package lists once. With `aggregate: true`, or `state_aggregate` in the
 * configuration, all packages are installed by one call.
 */
import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failed, unchanged } from '../../../_shared/states/returns.ts';
import {
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../../api.ts';
import { currentPackages, desiredPackages, withProviders } from '../../desired-packages.ts';
import {
  type InstallPlan,
  notFound,
  packagesToInstall,
  planInstall,
  resolveLatest,
} from '../../install-plan.ts';
import { installReport, wouldInstall } from '../../install-report.ts';
import { changeHolds, type HoldOutcome, holdAfter, holdFailed } from '../../package-holds.ts';
import { type DesiredPackages, isRefreshDue, PackageError, PackageTwice } from '../../packages.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('pkg.install') || [
    false,
    'pkg.install is not available: no package manager is known here.',
  ];

export type InstalledOptions = {
  version?: Plain;
  /** fetch the package lists first: true, false, or once per run when not given */
  refresh?: boolean | null;
  /** the repository or release to install from */
  fromrepo?: string | null;
  /** true: install without checking signatures */
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
 * @param skip_suggestions true: do not look the name up before installing
 * @param pkgs a list of names and `{name: version}`
 * @param sources a list of `{name: path or URL}` of package files
 * @param allow_updates true: accept a newer version than the requested one
 * @param pkg_verify true or options: install altered packages again (if the manager can detect
 * them)
 * @param normalize false: take architectures in names as written
 * @param ignore_epoch true: compare versions without epochs
 * @param reinstall true: install packages again that are already installed
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
    sources: from = null,
    allow_updates = false,
    pkg_verify = false,
    normalize = true,
    ignore_epoch = null,
    reinstall = false,
    update_holds = false,
    hold = null,
    ...rest
  }: InstalledOptions = {},
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's pkg.installed, in its order
): Promise<StateReturn> => {
  if (Array.isArray(pkgs) && pkgs.length === 0)
    return unchanged(name, 'No packages to install provided');
  const sources = Array.isArray(from) && from.length === 0 ? null : from;
  if (pkgs && sources) return failed(name, 'Only one of "pkgs" and "sources" is permitted.');
  const verifying = pkg_verify === true || Array.isArray(pkg_verify);
  if (verifying && !hasFunction('pkg.verify')) return failed(name, 'pkg.verify not implemented');
  let desired: DesiredPackages;
  try {
    desired = await desiredPackages({ name, version, pkgs, sources, normalize });
  } catch (error) {
    return failed(
      name,
      error instanceof PackageTwice
        ? error.message
        : `Invalidly formatted '${pkgs ? 'pkgs' : 'sources'}' parameter. See minion log.`,
    );
  }
  const options = { allow_updates, ignore_epoch, reinstall, verifying, pkg_verify, rest };
  let plan: InstallPlan;
  try {
    const current = await currentPackages();
    if (!sources) desired = await withProviders(desired, current, rest);
    const missing = await notFound(desired, current, { skip_suggestions, fromrepo, sources });
    if (missing) return failed(name, missing);
    await resolveLatest(desired, current, { refresh, fromrepo, sources, rest });
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
  let holds: HoldOutcome | undefined;
  if (hold !== null)
    try {
      holds = await changeHolds([...desired.keys()], hold);
    } catch (error) {
      return holdFailed({ name, changes, result: false, comment: '' }, error);
    }
  return installReport(name, plan, desired, changes, {
    bySource: sources !== null,
    reinstall,
    ignore_epoch,
    holds,
  });
};
