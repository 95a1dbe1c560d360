import type { HostResult } from '../../protocol/event.ts';
import { onAbort } from '../../protocol/on-abort.ts';

/**
 * Returns the signal of one host's run: aborted by the whole run's signal, or when the host's time
 * is up. `AbortSignal.any` is not used: Node 20 may collect such a signal while only listeners
 * refer to it.
 */
export const timeLimit = (
  run: AbortSignal,
  seconds: number | undefined,
): {
  readonly signal: AbortSignal;
  readonly release: () => void;
  /** Adds to the result that the time limit ended the run. */
  readonly explain: (result: HostResult | undefined) => HostResult | undefined;
} => {
  if (seconds === undefined)
    return { signal: run, release: () => undefined, explain: result => result };
  const own = new AbortController();
  let isOver = false;
  const cancel = onAbort(run, () => own.abort());
  const timer = setTimeout(() => {
    isOver = true;
    own.abort();
  }, seconds * 1000);
  return {
    signal: own.signal,
    release: () => {
      clearTimeout(timer);
      cancel();
    },
    explain: result => {
      if (!isOver || result?.failure?.code !== 'cancelled') return result;
      // The first line reports the cancellation, the others what was running.
      const [, ...running] = result.failure.message.split('\n');
      const limit = `${result.id}: not done within ${seconds} s (--timeout).`;
      const message = [limit, ...running].join('\n');
      return { ...result, failure: { kind: 'host', code: 'host-timeout', message } };
    },
  };
};
