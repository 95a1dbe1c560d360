import type { Gate } from '../host/host-run.ts';

/**
 * Lets hosts that are on their way together begin to run states together: what does not
 * compile on any of them is told before one of them is changed. A host waits for those only
 * that were in flight when it was ready, and for one that has not even answered no longer
 * than `patience` milliseconds: a dead host must not hold up a fleet.
 */
export const newBarrier = (patience = 5000): (() => Gate) => {
  const behind = new Set<Traveller>();
  const waiting = new Set<() => void>();
  const told = (): void => {
    for (const look of [...waiting]) look();
  };
  const wait = (): Promise<void> =>
    new Promise(resolve => {
      const others = [...behind];
      let patient = true;
      const look = (): void => {
        if (others.some(one => behind.has(one) && (patient || one.isConnected))) return;
        clearTimeout(timer);
        waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(() => {
        patient = false;
        look();
      }, patience);
      waiting.add(look);
      look();
    });
  return () => {
    const own: Traveller = { isConnected: false };
    behind.add(own);
    const arrive = (): void => {
      if (behind.delete(own)) told();
    };
    return {
      connected: () => {
        own.isConnected = true;
      },
      ready: () => {
        arrive();
        return behind.size === 0 ? Promise.resolve() : wait();
      },
      leave: arrive,
    };
  };
};

type Traveller = { isConnected: boolean };
