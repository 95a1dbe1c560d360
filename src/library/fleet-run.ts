import type { Request } from '../config/request.ts';
import type { KeptRuntimes } from '../control/host/kept-runtimes.ts';
import type { SaltTable } from '../modules/api.ts';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import type { Plain } from '../protocol/plain.ts';
import { makeRequest } from '../request/request.ts';
import type { Invocation } from '../request/rosters.ts';

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
 * The parts of a run that the command line and programs state differently.
 *
 * @internal
 */
export type RunSource = {
  /** Reads options, configuration and call. */
  readonly open: () => Promise<Invocation>;
  /** Receives the request before any host is contacted, and returns the one to carry out. */
  readonly prepare?: (request: Request) => Request | Promise<Request>;
  readonly signal?: AbortSignal;
};

/**
 * Makes every run: those of programs, and those of the command line.
 *
 * @param kept the connections and runtimes of a session
 * @internal
 */
export const startRun = <F extends string>(
  { open, prepare, signal }: RunSource,
  kept?: KeptRuntimes,
): FleetRun<F> =>
  fleetRun(
    async () => {
      const request = await makeRequest(await open());
      return prepare ? prepare(request) : request;
    },
    signal,
    kept,
  );

/**
 * A run whose hosts are known. None of them was contacted.
 *
 * @internal
 */
export type PreparedRun = {
  readonly request: Request;
  readonly start: () => FleetRun;
};

/**
 * Reads the rosters for commands that choose hosts before they run a function, or run none.
 *
 * @throws TsaltError `usage-…`, `roster-…`
 * @internal
 */
export const prepareRun = async (invocation: Invocation): Promise<PreparedRun> => {
  const request = await makeRequest(invocation);
  return { request, start: () => fleetRun(async () => request, undefined, undefined) };
};

const fleetRun = <F extends string>(
  request: () => Promise<Request>,
  signal: AbortSignal | undefined,
  kept: KeptRuntimes | undefined,
): FleetRun<F> => {
  let isBegun = false;
  const begin = (): AsyncGenerator<RunEvent, void, undefined> => {
    if (isBegun) throw new Error('A run can be carried out once. Call run() again for another.');
    isBegun = true;
    return eventsOf(request, signal, kept);
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
  requested: () => Promise<Request>,
  signal: AbortSignal | undefined,
  kept: KeptRuntimes | undefined,
): AsyncGenerator<RunEvent, void, undefined> {
  const request = await requested();
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
