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
