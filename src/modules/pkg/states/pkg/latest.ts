import { messageOf } from '../../../../protocol/error.ts';
import { getOwn, isPlainDict } from '../../../../protocol/plain.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import {
  currentPackages,
  latestVersions,
  normalNames,
  repoChoice,
} from '../../desired-packages.ts';
import {
  isRefreshDue,
  PackageError,
  type PackageList,
  parsePackageArguments,
} from '../../packages.ts';
import type { InstalledOptions } from './installed.ts';

/**
 * Packages are installed at the newest version that is available.
 *
 * @param name a package; not used when `pkgs` is given
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
  const names = await normalNames([...parsePackageArguments(pkgs ?? [name]).keys()]);
  if (names.length === 0)
    return failed(name, 'Invalidly formatted "pkgs" parameter. See minion log.');
  let newest: { [name: string]: string };
  let current: PackageList;
  try {
    const repos = repoChoice(rest);
    newest = await latestVersions(names, { refresh: isRefreshDue(refresh), fromrepo, ...repos });
    current = await currentPackages();
  } catch (error) {
    return failed(
      name,
      `An error was encountered while checking the newest available version of package(s): ${messageOf(error)}`,
    );
  }
  const unknown = names.filter(one => !getOwn(newest, one) && !getOwn(current, one));
  if (unknown.length > 0)
    return failed(name, unknown.map(one => `No information found for '${one}'.`).join(' '));
  const targets = names.filter(one => getOwn(newest, one));
  const done = names.filter(one => !getOwn(newest, one)).sort();
  if (targets.length === 0) return unchanged(name, upToDate(names));
  if (__opts__.test) {
    const comments = [
      `The following packages would be installed/upgraded: ${targets.toSorted().join(', ')}`,
    ];
    if (done.length > 10) comments.push(`${done.length} packages are already up-to-date`);
    else if (done.length > 0)
      comments.push(
        `The following packages are already up-to-date: ${done
          .map(one => `${one} (${getOwn(current, one)?.join(',') ?? ''})`)
          .join(', ')}`,
      );
    const upgrades = targets.map(one => [
      one,
      { old: getOwn(current, one)?.join(',') ?? '', new: getOwn(newest, one) ?? '' },
    ]);
    return would(name, comments.join('\n'), inPlan(Object.fromEntries(upgrades)));
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
    return (
      isPlainDict(change) &&
      (change.new === getOwn(newest, one) || getOwn(newest, one) === 'latest')
    );
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
