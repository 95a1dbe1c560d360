import * as crypto from 'node:crypto';

/**
 * The only access of templates to randomness and the clock. It counts its uses: a text that was
 * rendered meanwhile may differ for the next host, so it is not shared (`share/`).
 */
export const randomInt: typeof crypto.randomInt = ((...args: [number, number]) => {
  noteNondeterminism();
  return crypto.randomInt(...args);
}) as typeof crypto.randomInt;

export const randomBytes = (size: number): Buffer => {
  noteNondeterminism();
  return crypto.randomBytes(size);
};

/** Returns the current time. */
export const now = (): Date => {
  noteNondeterminism();
  return new Date();
};

let uses = 0;

/** Counts a use of randomness or the clock by other code. */
export const noteNondeterminism = (): void => {
  uses += 1;
};

/** Returns the number of uses so far. */
export const nondeterminismUses = (): number => uses;
