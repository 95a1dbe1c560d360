import type { HostResult } from '../../protocol/event.ts';

/**
 * The signal of one host's run: the whole run's, and the time that one host may take. Signals
 * made by `AbortSignal.any` are not used: what nobody else holds, Node 20 may forget.
 */
export const timeLimit = (
  run: AbortSignal,
  seconds: number | undefined,
): {
  readonly signal: AbortSignal;
  readonly release: () => void;
  /** Says of a run that was ended by the limit why it was. */
  readonly explain: (result: HostResult | undefined) => HostResult | undefined;
} => {
  if (seconds === undefined)
    return { signal: run, release: () => undefined, explain: result => result };
  const own = new AbortController();
  const onRun = (): void => own.abort();
  let isOver = false;
  run.addEventListener('abort', onRun, { once: true });
  if (run.aborted) own.abort();
  const timer = setTimeout(() => {
    isOver = true;
    own.abort();
  }, seconds * 1000);
  return {
    signal: own.signal,
    release: () => {
      clearTimeout(timer);
      run.removeEventListener('abort', onRun);
    },
    explain: result => {
      if (!isOver || result?.failure?.code !== 'cancelled') return result;
      // The first line says that it was cancelled, the others what was running.
      const [, ...running] = result.failure.message.split('\n');
      const limit = `${result.id}: not done within ${seconds} s (--timeout).`;
      const message = [limit, ...running].join('\n');
      return { ...result, failure: { kind: 'host', code: 'host-timeout', message } };
    },
  };
};
