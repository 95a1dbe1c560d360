import * as crypto from 'node:crypto';

/**
 * The only door of templates to randomness and the clock. It counts who goes through: what was
 * rendered meanwhile may come out otherwise for the next host, and is not shared (`share/`).
 */
export const randomInt: typeof crypto.randomInt = ((...args: [number, number]) => {
  noteChance();
  return crypto.randomInt(...args);
}) as typeof crypto.randomInt;

export const randomBytes = (size: number): Buffer => {
  noteChance();
  return crypto.randomBytes(size);
};

/** The time it is. */
export const now = (): Date => {
  noteChance();
  return new Date();
};

let uses = 0;

/** Says that somebody else's code asks for randomness or the time. */
export const noteChance = (): void => {
  uses += 1;
};

/** How often anybody came here. */
export const chanceUses = (): number => uses;
