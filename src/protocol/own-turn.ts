let last: Promise<undefined> = Promise.resolve(undefined);

/**
 * Waits for a turn of the event loop of one's own. Long computations that only wait for the next
 * turn (`setImmediate`) all get the same one, however many they are: connections, signals and time
 * limits would wait for the sum of their slices.
 */
export const ownTurn = (): Promise<undefined> => {
  last = last.then(() => new Promise(resolve => setImmediate(resolve, undefined)));
  return last;
};
