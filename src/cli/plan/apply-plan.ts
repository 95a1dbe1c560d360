import { ownVersion } from '../../bundle/package-info.ts';
import type { Request } from '../../config/request.ts';
import { checkPlannedFiles } from '../../control/prepare/planned-job.ts';
import { toData, toDict } from '../../data/values/value.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import type { RunSession } from '../../library/session.ts';
import { readPlan } from '../../plan/file.ts';
import { type Plan, type PlannedHost, predictionsOf, stepHosts } from '../../plan/plan.ts';
import { namesOf } from '../../plan/show.ts';
import { TsaltError } from '../../protocol/error.ts';
import { getOwn } from '../../protocol/plain.ts';
import type { AppliedStep, BoundRun } from '../../protocol/plan.ts';
import type { CommandLineCall } from '../../request/call.ts';
import type { Given } from '../../request/given.ts';
import type { Opened } from '../commands.ts';
import { targeting } from '../rerun-command.ts';
import { runCall } from '../run-call.ts';

/** `apply FILE`: makes the changes of a plan, on hosts that still match it. */
export const applyPlan = async (words: readonly string[], opened: Opened): Promise<number> => {
  const plan = await planOf(words, opened, 'apply');
  return runPlan(plan, opened, { planFile: words[0] ?? '' });
};

/**
 * Reads the plan that a command names.
 *
 * @throws TsaltError `usage-words` and what `readPlan` throws
 */
export const planOf = (
  [file, ...more]: readonly string[],
  { given }: Opened,
  command: string,
): Promise<Plan> => {
  if (file === undefined || more.length > 0)
    throw new TsaltError('usage-words', `${command} takes one file.`, {
      hint: `For example: tsalt-ssh ${command} web.plan`,
    });
  const { identity } = given.options;
  return readPlan(file, typeof identity === 'string' ? identity : undefined);
};

/** Applies a plan to its hosts. */
export const runPlan = (
  plan: Plan,
  opened: Opened,
  { session, planFile }: { readonly session?: RunSession; readonly planFile?: string },
): Promise<number> => {
  checkValid(plan);
  const given = givenFor(plan, opened.given);
  return runCall({ ...opened, given }, session, {
    ...(planFile === undefined ? {} : { planFile }),
    planned: {
      call: () => plannedCall(plan, given),
      prepare: request => withPlan(plan, request, given),
    },
  });
};

/** Refuses a plan that is too old, or of another version of this program. */
const checkValid = (plan: Plan): void => {
  if (plan.tsalt !== ownVersion())
    throw outdated(
      'plan-version',
      `The plan was made by tsalt-ssh ${plan.tsalt}, and this is ${ownVersion()}.`,
    );
  if (Date.now() > Date.parse(plan.expires))
    throw outdated('plan-expired', `The plan expired at ${plan.expires}.`);
};

const outdated = (code: string, message: string): TsaltError =>
  new TsaltError(code, `${message} No host was contacted.`, {
    kind: 'drift',
    hint: 'Make a new plan: --plan-out.',
  });

/** Returns the options of an `apply`, with the hosts of the plan as the target. */
const givenFor = (plan: Plan, given: Given): Given => {
  const without = new Set([...targeting, 'ask', 'plan-out', 'local', 'orch']);
  const kept = Object.entries(given.options).filter(([name]) => !without.has(name));
  const { adHoc, target, fun } = plan.call;
  return {
    ...given,
    options: { ...Object.fromEntries(kept), ...(adHoc === true ? {} : { list: true }) },
    words: [adHoc === true ? target : Object.keys(plan.hosts).join(','), fun],
  };
};

const plannedCall = (plan: Plan, { options, words }: Given): CommandLineCall => {
  const { fun, args, kwargs } = plan.call;
  if (options['expect-no-changes'] === true)
    throw new TsaltError('usage-value', '--expect-no-changes is for runs, not for apply.', {
      hint: 'apply --dry-run compares hosts with the plan and changes nothing.',
    });
  if (options.resume !== undefined)
    throw new TsaltError('usage-resume', '--resume is for orchestrations, not for their plans.', {
      hint: `The steps that a plan did not finish: tsalt-ssh --orch SLS --resume ${String(options.resume)}`,
    });
  return {
    target: words[0] ?? '',
    fun,
    args: args.map(toData),
    kwargs: toDict(options['dry-run'] === true ? { ...kwargs, test: true } : kwargs),
  };
};

const withPlan = async (plan: Plan, request: Request, { options }: Given): Promise<Request> => {
  const { config } = request;
  const known = new Set(request.hosts.map(({ id }) => id));
  const missing = [...Object.keys(plan.hosts), ...stepHosts(plan)].filter(id => !known.has(id));
  if (missing.length > 0)
    throw outdated('plan-hosts', `The roster has no ${namesOf(missing)}, which the plan is for.`);
  await checkPlannedFiles(plan, new FileRoots(config.file_roots, config));
  return {
    ...request,
    options: { ...request.options, drift: options.drift === 'continue' ? 'continue' : 'stop' },
    planned: {
      artifact: plan.artifact,
      runOf: id => boundRun(plan, plan.hosts, id),
      stepOf: tag => appliedStep(plan, tag),
    },
  };
};

/** A step with values of earlier steps is resolved and compiled when it runs. */
const appliedStep = (plan: Plan, tag: string): AppliedStep | undefined => {
  const step = plan.steps?.find(one => one.tag === tag && one.why === undefined);
  return step && { hosts: step.hosts, runOf: id => boundRun(plan, step.bound, id) };
};

const boundRun = (
  plan: Plan,
  hosts: Readonly<Record<string, PlannedHost>>,
  id: string,
): BoundRun | undefined => {
  const host = getOwn(hosts, id);
  if (host === undefined) return undefined;
  const { saltenv, opts, sources, tainted } = host;
  return {
    chunks: host.chunks.flatMap(at => plan.chunks[at] ?? []),
    predicted: predictionsOf(plan, host),
    saltenv,
    opts,
    sources,
    tainted,
  };
};
