import type { KeptRuntimes } from '../control/host/kept-runtimes.ts';
import type { SaltTable } from '../modules/api.ts';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import type { Plain } from '../protocol/plain.ts';
import { openRequest } from './invocation.ts';
import type { RunOptions } from './options.ts';

/** The result of a host. The type of `value` is that of a built-in function which succeeded. */
export type ResultOf<F extends string> = Omit<HostResult, 'value'> & {
  readonly value?: F extends keyof SaltTable
    ? SaltTable[F] extends (...args: never[]) => Promise<infer Value>
      ? Value
      : Plain
    : Plain;
};

/**
 * A run that `run` prepared. It begins once, when its events or its results are requested. Leaving
 * the loop over the events ends the run as `signal` does, and waits for its end.
 * Leaving the loop over the events ends the run as `signal` does, and waits for its end.
 */
export type FleetRun<F extends string = string> = AsyncIterable<RunEvent> & {
  /**
   * Carries the run out.
   *
   * @returns the result of each host that matched, in the order in which they ended. A host that
   *   fails is a result with `failure` or with a `retcode` other than 0.
   * @throws TsaltError for what is wrong on this side: options, configuration, roster, target
   */
  readonly results: () => Promise<readonly ResultOf<F>[]>;
};

/**
 * Runs a function on every host that matches, as `tsalt-ssh TARGET FUN` does. Nothing is printed.
 *
 *     for await (const event of run({ target: 'web*', fun: 'state.apply' }))
 *       if (event.type === 'state') console.log(event.host, event.tag, event.result);
 *
 *     const results = await run({ target: 'web*', fun: 'grains.items' }).results();
 *
 * @throws nothing itself: wrong options are reported by the loop or by `results`
 */
export const run = <const F extends string>(
  options: RunOptions & { readonly fun: F },
): FleetRun<F> => runKeeping(options);

/**
 * As `run`, with the connections and runtimes of a session.
 *
 * @internal
 */
export const runKeeping = <F extends string>(
  options: RunOptions & { readonly fun: F },
  kept?: KeptRuntimes,
): FleetRun<F> => {
  let isBegun = false;
  const begin = (): AsyncGenerator<RunEvent, void, undefined> => {
    if (isBegun) throw new Error('A run can be carried out once. Call run() again for another.');
    isBegun = true;
    return eventsOf(options, kept);
  };
  return {
    [Symbol.asyncIterator]: begin,
    results: async () => {
      const results: ResultOf<F>[] = [];
      for await (const event of begin())
        if (event.type === 'host') results.push(event.result as ResultOf<F>);
      return results;
    },
  };
};

async function* eventsOf(
  options: RunOptions,
  kept: KeptRuntimes | undefined,
): AsyncGenerator<RunEvent, void, undefined> {
  const { signal } = options;
  const request = await openRequest(options);
  const { runFleet } = await import('../control/fleet/run.ts');
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  let held: RunEvent[] = [];
  let wake: () => void = () => undefined;
  let hasEnded = false;
  const work = runFleet(
    request,
    event => {
      held.push(event);
      wake();
    },
    stop.signal,
    undefined,
    kept,
  ).finally(() => {
    hasEnded = true;
    wake();
  });
  // The loop below awaits it.
  work.catch(() => undefined);
  try {
    while (!hasEnded || held.length > 0) {
      const events = held;
      held = [];
      yield* events;
      if (!hasEnded && held.length === 0)
        await new Promise<void>(resolve => {
          wake = resolve;
        });
    }
    await work;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    if (!hasEnded) stop.abort();
    await work.catch(() => undefined);
  }
}
