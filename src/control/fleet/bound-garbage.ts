import { boundHeap, boundYoungGeneration, collectGarbage } from '../../memory/collect-garbage.ts';

const many = 8;

/** Hosts whose roster leaves tens of megabytes of garbage. */
const veryMany = 5000;

/**
 * Bounds the garbage of a run with many hosts when it begins. By default V8 lets the young generation
 * grow to 32 MiB for that of logins and messages, which does not make the run faster. That of the
 * roster is freed: V8 would take it for data, and let the heap grow to twice its size.
 */
export const boundGarbage = (hosts: number): void => {
  if (hosts > many) boundYoungGeneration();
  if (hosts <= veryMany) return;
  collectGarbage();
  boundHeap();
};
