import { setFlagsFromString } from 'node:v8';

const many = 8;

/**
 * Fixes the size of the young generation when a run with many hosts begins. By default V8 lets it
 * grow to 32 MiB for the garbage of logins and messages, which does not make the run faster.
 */
export const boundGarbage = (hosts: number): void => {
  if (hosts > many) setFlagsFromString('--semi-space-growth-factor=1');
};
