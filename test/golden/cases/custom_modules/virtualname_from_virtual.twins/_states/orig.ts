import type { Plain, StateReturn } from 'tsalt-ssh/module';

type Options = { [key: string]: Plain | undefined };

export const __virtual__ = (): string => 'renamed';

export const go = (name: string, { ...rest }: Options = {}): StateReturn => {
  void rest;
  return { name, result: true, changes: {}, comment: 'orig' };
};
