import { runInNewContext } from 'node:vm';
import { setFlag } from './v8-flags.ts';

/** Keeps the size of the young generation, which would grow with the amount of garbage. */
export const boundYoungGeneration = (): void => setFlag('semi-space-growth-factor', 1);

let collect: (() => void) | undefined;

/**
 * Frees the garbage of a large value. V8 alone would let some hundred megabytes accumulate.
 */
export const collectGarbage = (): void => {
  if (!collect) {
    setFlag('expose-gc');
    boundYoungGeneration();
    collect = runInNewContext('gc') as () => void;
  }
  collect();
};

/**
 * Bounds the garbage beside large data: V8 would let its heap grow to several times the data before
 * it collects. Costs some processor time from then on.
 */
export const boundHeap = (): void => setFlag('heap-growing-percent', 30);
