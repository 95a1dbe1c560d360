/** Waits, or until the signal is given; tells neither from the other. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
