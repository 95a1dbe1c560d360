import { setFlagsFromString } from 'node:v8';

const many = 8;

/**
 * Keeps the young generation as large as it is when a run with many hosts begins. Left alone, V8
 * lets it grow to 32 MiB for the garbage of logins and messages, and the run is not faster.
 */
export const boundGarbage = (hosts: number): void => {
  if (hosts > many) setFlagsFromString('--semi-space-growth-factor=1');
};
