import pLimit from 'p-limit';
import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import type { Shared } from '../facts/shared.ts';
import { pause } from '../host/pause.ts';
import type { HostRunner } from './host-runs.ts';
import { showShort } from './names.ts';
import { rollOut } from './roll-out.ts';
import type { Targets } from './targets.ts';

type BatchParts = {
  readonly shared: Shared;
  readonly targets: Targets;
  readonly signal: AbortSignal;
};

/**
 * Runs the hosts in batches, with the failure budget and the checks of the options. Reports hosts
 * that did not begin.
 *
 * @returns the error of a batch check that failed
 */
export const runInBatches = async (
  runs: HostRunner,
  request: Request,
  { shared, targets, signal }: BatchParts,
): Promise<TsaltError | undefined> => {
  const { batch, batchMode, batchWait, maxFail, failhard, maxProcs, drift } = request.options;
  const budget = failhard ? { count: 1 } : maxFail;
  const counts = batch !== undefined || (budget !== undefined && 'percent' in budget);
  const hosts = counts ? await onlyTargets(runs, targets, { maxProcs, signal }) : targets.hosts;
  let checkError: TsaltError | undefined;
  const wait = batchWait === undefined ? undefined : () => pause(batchWait * 1000, signal);
  const between = async (
    done: readonly Host[],
    next: readonly Host[],
  ): Promise<string | undefined> => {
    checkError = await checkBatch(runs, request, done);
    if (checkError) return checkError.message.replace(/\.$/, '');
    if (request.options.batchAsk && !(await request.confirm?.(question(next))))
      return 'the answer was no';
    await wait?.();
    return undefined;
  };
  const { notStarted, reason = '' } = await rollOut(
    hosts,
    {
      mode: batchMode ?? 'lockstep',
      ...(batch === undefined ? {} : { sizes: batch }),
      ...(budget === undefined ? {} : { maxFail: budget }),
    },
    {
      one: runs.one,
      between,
      ...(wait ? { pause: wait } : {}),
      halted: () =>
        drift === 'stop' && runs.hasDrifted ? 'a host differs from the plan' : undefined,
      atOnce: maxProcs,
      signal,
    },
  );
  if (notStarted.length > 0) {
    const ids = notStarted.map(({ id }) => id);
    shared.emit({ type: 'not-started', hosts: ids, reason });
    shared.emit({
      type: 'log',
      level: 'warning',
      module: 'run',
      message: `Not started, since ${reason}: ${showShort(ids)}.`,
    });
  }
  return checkError;
};

/** Returns the hosts that match: batches and percentages count only these. */
const onlyTargets = async (
  runs: HostRunner,
  { hosts, undecided }: Targets,
  { maxProcs, signal }: { readonly maxProcs: number; readonly signal: AbortSignal },
): Promise<readonly Host[]> => {
  const limit = pLimit(Math.max(1, maxProcs));
  const others = new Set<Host>();
  await Promise.all(
    [...undecided].map(host =>
      limit(async () => {
        if (signal.aborted) return;
        if (await runs.decide(host)) runs.isDecided(host);
        else others.add(host);
      }),
    ),
  );
  return hosts.filter(host => !others.has(host));
};

/** Calls the function of `--batch-check` on the hosts of a batch. */
const checkBatch = async (
  runs: HostRunner,
  request: Request,
  done: readonly Host[],
): Promise<TsaltError | undefined> => {
  const { batchCheck, maxProcs } = request.options;
  if (batchCheck === undefined) return undefined;
  const { raw: _, ...rest } = request;
  const limit = pLimit(Math.max(1, maxProcs));
  const results = await Promise.all(
    done.map(host => limit(() => runs.check(host, { ...rest, ...batchCheck }))),
  );
  const bad = results.filter(result => result !== undefined && !isFine(result));
  if (bad.length === 0) return undefined;
  const ids = showShort(bad.flatMap(result => result?.id ?? []));
  const why = bad[0]?.failure?.message ?? `It returned ${JSON.stringify(bad[0]?.value)}`;
  return new TsaltError('batch-check', `The batch check ${batchCheck.fun} failed on ${ids}.`, {
    kind: 'function',
    hint: why.length > 300 ? `${why.slice(0, 300)}…` : why,
  });
};

const isFine = ({ retcode, failure, value }: HostResult): boolean =>
  retcode === 0 && failure === undefined && value !== false;

const question = (next: readonly Host[]): string =>
  `The next batch is ${showShort(next.map(({ id }) => id))}. Go on?`;
