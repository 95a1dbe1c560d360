import { getOwn } from '../../protocol/plain.ts';
import { redact } from '../_shared/sources/url-login.ts';
import type { StateReturn } from '../api.ts';
import { sentences, shortSha, upToDate } from './git-comments.ts';
import { type CheckoutPlan, type DesiredCheckout, shownRepository } from './git-latest.ts';

/** Returns the result of an update in test mode. */
export const predictUpdate = (
  ret: StateReturn,
  wanted: DesiredCheckout,
  plan: CheckoutPlan,
  moreActions: readonly string[],
): StateReturn => {
  const { local, isThere, found, changesBranch } = plan;
  const { update_head } = wanted;
  const url = getOwn(local.remotes, wanted.remote)?.fetch;
  const isElsewhere = url !== wanted.url;
  const actions = isElsewhere
    ? remoteActions(wanted, plan, url)
    : [...headActions(wanted, plan), ...trackingActions(plan)];
  if (!isThere && (update_head || (changesBranch && !isElsewhere)))
    ret.changes.revision = { old: local.rev, new: found.sha };
  if (!isThere && update_head && isElsewhere && plan.fastForward === false)
    ret.changes['forced update'] = true;
  const all = [...actions, ...moreActions];
  if (Object.keys(ret.changes).length > 0) return { ...ret, result: null, comment: sentences(all) };
  return !isThere && !update_head && all.length > 0
    ? { ...ret, comment: sentences(all) }
    : upToDate(ret, wanted.path, all);
};

const remoteActions = (
  wanted: DesiredCheckout,
  plan: CheckoutPlan,
  url: string | undefined,
): string[] => {
  const old = url === undefined ? 'None' : redact(url);
  return [
    `Remote '${wanted.remote}' would be changed from ${old} to ${shownRepository(wanted)}`,
    ...(plan.hasRev ? [] : ['Remote would be fetched']),
    ...(plan.isThere || !wanted.update_head
      ? []
      : [`Repository would be ${way(plan)} to ${shortSha(plan.found.sha)}`]),
  ];
};

const way = ({ fastForward }: CheckoutPlan): string =>
  fastForward === undefined ? 'updated' : fastForward ? 'fast-forwarded' : 'hard-reset';

const headActions = (wanted: DesiredCheckout, plan: CheckoutPlan): string[] => {
  const { branch, remote } = wanted;
  const { found, local, hasRev, changesBranch } = plan;
  const fetch = hasRev ? [] : [`Remote '${remote}' would be fetched`];
  if (!changesBranch) return [...fetch, ...moveActions(wanted, plan)];
  if (branch !== null && local.branches.includes(branch))
    return [
      ...fetch,
      `Branch '${branch}' would be checked out and ${way(plan)} to ${shortSha(found.sha)}`,
    ];
  return [
    ...fetch,
    `New branch '${branch}' would be checked out, with ${found.place} as a starting point`,
    ...(found.upstream ? [`Tracking branch would be set to ${found.upstream}`] : []),
  ];
};

const moveActions = (
  { update_head, force_reset }: DesiredCheckout,
  { local, found, isThere, hasRev, fastForward }: CheckoutPlan,
): string[] => {
  if (isThere) return [];
  if (!update_head)
    return [
      `Local HEAD (${local.rev?.slice(0, 7)}) does not match ${found.place} but update_head=False, HEAD would not be updated locally`,
    ];
  const how = fastForward ? 'fast-forwarded' : force_reset && hasRev ? 'hard-reset' : 'updated';
  return [`Repository would be ${how} from ${shortSha(local.rev)} to ${shortSha(found.sha)}`];
};

const trackingActions = ({ found: { upstream: wish }, upstream }: CheckoutPlan): string[] => {
  if (!wish) return upstream && wish === false ? ['Tracking branch would be unset'] : [];
  if (!upstream) return [`Tracking branch would be set to ${wish}`];
  return upstream === wish ? [] : [`Tracking branch would be updated to ${wish}`];
};
