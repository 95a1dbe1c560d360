import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Frees what a large value has left behind. V8 would let some hundred megabytes of it pile up
 * before it does so by itself.
 */
export const collectGarbage = (): void => {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    // The young generation stays as large as it is: it would grow with what is garbage at once.
    setFlagsFromString('--semi-space-growth-factor=1');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
};
