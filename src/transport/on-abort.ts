/**
 * Calls `work` when the signal is aborted: at once where it is already, which an event listener
 * would never hear.
 *
 * @returns what takes it back
 */
export const onAbort = (signal: AbortSignal | undefined, work: () => void): (() => void) => {
  if (signal?.aborted) work();
  signal?.addEventListener('abort', work, { once: true });
  return () => signal?.removeEventListener('abort', work);
};
