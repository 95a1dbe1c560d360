import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Frees the garbage of a large value. V8 alone would let some hundred megabytes accumulate.
 */
export const collectGarbage = (): void => {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    // Keeps the size of the young generation, which would grow with the amount of garbage.
    setFlagsFromString('--semi-space-growth-factor=1');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
};

/**
 * Bounds the garbage beside large data: V8 would let its heap grow to several times the data before
 * it collects. Costs some processor time from then on.
 */
export const boundHeap = (): void => setFlagsFromString('--heap-growing-percent=30');
