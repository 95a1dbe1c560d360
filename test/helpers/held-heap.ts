import { collectGarbage } from '../../src/memory/collect-garbage.ts';

/** Bytes of the heap in use, without garbage. */
export const heldHeap = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};
