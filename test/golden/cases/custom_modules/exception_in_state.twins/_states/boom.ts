import type { StateReturn } from 'tsalt-ssh/module';

export const go = (name: string): StateReturn => {
  throw new Error(`kaboom ${name}`);
};
