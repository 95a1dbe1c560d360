import type { BatchSize } from '../../config/request.ts';

/** How a run proceeds from host to host. */
export type RolloutPlan = {
  /** The sizes of the first batches; the last one repeats. Absent: all hosts at once. */
  readonly sizes?: readonly BatchSize[];
  /**
   * `lockstep`: a batch begins when the one before has ended. `sliding`: in batches of the last
   * size, the next host begins as soon as one has ended.
   */
  readonly mode: 'lockstep' | 'sliding';
  /** No further host begins after this many failures. */
  readonly maxFail?: BatchSize;
};

export type RolloutWork<T> = {
  /** Runs one host. @returns whether it succeeded */
  readonly one: (host: T) => Promise<boolean>;
  /**
   * Called when a batch has ended and hosts are left; not between sliding batches.
   *
   * @returns why the rest must not begin; undefined to continue
   */
  readonly between: (batch: readonly T[], next: readonly T[]) => Promise<string | undefined>;
  /** Waits before the next host begins in sliding batches. */
  readonly pause?: () => Promise<void>;
  /** Returns why no further host may begin; undefined to continue. */
  readonly halted?: () => string | undefined;
  /** How many hosts may run at the same time. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
};

/** The hosts that did not begin, and why. */
export type RolloutEnd<T> = { readonly notStarted: readonly T[]; readonly reason?: string };

/**
 * Runs hosts in batches within a budget of failures. When the budget is used up, the current hosts
 * finish and no further one begins.
 *
 * @param hosts all hosts of the run, in order
 */
export const rollOut = async <T>(
  hosts: readonly T[],
  { sizes = [], mode, maxFail }: RolloutPlan,
  { one, between, pause, halted, atOnce, signal }: RolloutWork<T>,
): Promise<RolloutEnd<T>> => {
  const budget = maxFail === undefined ? Number.POSITIVE_INFINITY : hostsOf(maxFail, hosts);
  const begun = new Set<T>();
  let failed = 0;
  let reason: string | undefined;
  const mayBegin = (): boolean => {
    if (failed >= budget) reason ??= `${failed} ${failed === 1 ? 'host' : 'hosts'} failed`;
    reason ??= halted?.();
    return reason === undefined && !signal.aborted;
  };
  const run = async (
    some: readonly T[],
    width: number,
    afterwards?: () => Promise<void>,
  ): Promise<void> => {
    const enter = async (host: T): Promise<void> => {
      if (!mayBegin()) return;
      begun.add(host);
      if (!(await one(host))) failed += 1;
      if (begun.size < hosts.length && mayBegin()) await afterwards?.();
    };
    // A queue of waiting hosts (p-limit) would hold a kilobyte for each of them.
    const waiting = some.values();
    const places = Math.max(1, Math.min(width, atOnce, some.length));
    const work = async (): Promise<void> => {
      for (const host of waiting) await enter(host);
    };
    await Promise.all(Array.from({ length: places }, work));
  };
  const batches = batchesOf(hosts, sizes);
  const slidesFrom = mode === 'sliding' ? Math.max(0, sizes.length - 1) : batches.length;
  for (const [at, batch] of batches.entries()) {
    if (at === slidesFrom) {
      await run(batches.slice(at).flat(), batch.length, pause);
      break;
    }
    await run(batch, batch.length);
    const next = batches[at + 1];
    if (next === undefined || !mayBegin()) break;
    reason = await between(batch, next);
    if (!mayBegin()) break;
  }
  const notStarted = signal.aborted ? [] : hosts.filter(host => !begun.has(host));
  return { notStarted, ...(reason === undefined ? {} : { reason }) };
};

/** Converts a size or percentage into a number of hosts, at least one. */
const hostsOf = (size: BatchSize, hosts: readonly unknown[]): number =>
  Math.max(1, 'count' in size ? size.count : Math.ceil((hosts.length * size.percent) / 100));

/** Divides hosts into batches; the last size repeats. */
export const batchesOf = <T>(
  hosts: readonly T[],
  sizes: readonly BatchSize[] = [],
): readonly (readonly T[])[] => {
  if (sizes.length === 0) return hosts.length === 0 ? [] : [hosts];
  const batches: (readonly T[])[] = [];
  for (let at = 0; at < hosts.length; ) {
    const size = sizes[Math.min(batches.length, sizes.length - 1)] ?? { percent: 100 };
    const count = hostsOf(size, hosts);
    batches.push(hosts.slice(at, at + count));
    at += count;
  }
  return batches;
};
