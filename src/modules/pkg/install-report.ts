import { getOwn, isPlainDict } from '../../protocol/plain.ts';
import { would } from '../_shared/states/returns.ts';
import type { PlainDict, StateReturn } from '../api.ts';
import { compareVersions, currentPackages } from './desired-packages.ts';
import type { InstallPlan } from './install-plan.ts';
import { type HoldOutcome, withHolds } from './package-holds.ts';
import { type DesiredPackages, fulfills } from './packages.ts';

/** Formats `name=version`, `name>=1.2`, or the name alone. */
export const shownPackage = (name: string, wanted: DesiredPackages): string => {
  const version = wanted.get(name) ?? '';
  return `${name}${version === '' || /^[<>=]/.test(version) ? '' : '='}${version}`;
};

export const wouldInstall = (
  name: string,
  plan: InstallPlan,
  desired: DesiredPackages,
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

export const installReport = async (
  name: string,
  plan: InstallPlan,
  desired: DesiredPackages,
  changes: PlainDict,
  {
    bySource,
    reinstall,
    ignore_epoch,
    holds,
  }: {
    bySource: boolean;
    reinstall: boolean;
    ignore_epoch: boolean | null;
    holds: HoldOutcome | undefined;
  },
): Promise<StateReturn> => {
  const now = await currentPackages();
  const isThere = (one: string): boolean => {
    if (bySource) return Object.hasOwn(changes, one) || !plan.targets.has(one);
    const have = getOwn(now, one);
    const version = desired.get(one) ?? null;
    if (!have) return false;
    return (
      version === null || fulfills(have, version, compareVersions, { ignoreEpoch: ignore_epoch })
    );
  };
  const targets = [...plan.targets.keys()];
  const done = targets.filter(isThere);
  const missed = targets.filter(one => !isThere(one));
  const before = [...desired.keys()].filter(
    one => !plan.targets.has(one) && !plan.again.has(one) && isThere(one),
  );
  const shownOne = (one: string): string => (bySource ? one : shownPackage(one, desired));
  const shown = (names: string[]): string => names.map(shownOne).join(', ');
  const comments: string[] = [];
  if (missed.length > 0)
    comments.push(`The following packages failed to install/update: ${shown(missed)}`);
  if (done.length > 0)
    comments.push(
      shown(done).length < 20
        ? `The following packages were installed/updated: ${shown(done)}`
        : `${done.length} targeted package${done.length > 1 ? 's were' : ' was'} installed/updated.`,
    );
  comments.push(...(holds?.done ?? []).map(one => one.comment));
  if (before.length > 20)
    comments.push(`${before.length} targeted packages were already installed`);
  else if (before.length > 0)
    comments.push(`The following packages were already installed: ${shown(before)}`);
  comments.push(...[...(holds?.already ?? []), ...(holds?.failed ?? [])].map(one => one.comment));
  let ok = missed.length === 0;
  for (const one of plan.again.keys()) {
    const worked = reinstall ? Object.hasOwn(changes, one) : isThere(one);
    ok &&= worked;
    comments.push(
      worked
        ? `Package ${shownOne(one)} was reinstalled.`
        : `Reinstall was not successful for package ${shownOne(one)}.`,
    );
  }
  const state: StateReturn = { name, changes, result: ok, comment: comments.join('\n') };
  return holds ? withHolds(state, holds) : state;
};
