import type { BarrierMember } from '../host/host-run.ts';

/**
 * Makes hosts that run at the same time begin to run states together: if the states do not compile
 * on one of them, this is reported before any of them is changed. A host waits only for those that
 * were running when it was ready, and at most `patience` milliseconds for one that has not even
 * answered: a dead host must not delay a fleet.
 */
export const newBarrier = (patience = 5000): (() => BarrierMember) => {
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
