/**
 * Calls `work` when the signal is aborted: at once if it already is, which an event listener alone
 * would miss.
 *
 * @returns a function that cancels this
 */
export const onAbort = (signal: AbortSignal | undefined, work: () => void): (() => void) => {
  if (signal?.aborted) work();
  signal?.addEventListener('abort', work, { once: true });
  return () => signal?.removeEventListener('abort', work);
};
