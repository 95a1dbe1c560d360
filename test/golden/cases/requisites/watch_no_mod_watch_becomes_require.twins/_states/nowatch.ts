import type { Plain, StateReturn } from 'tsalt-ssh/module';

type Options = { [key: string]: Plain | undefined };

export const go = (name: string, { ...rest }: Options = {}): StateReturn => {
  const keys = Object.keys(rest)
    .filter(key => !key.startsWith('_'))
    .sort();
  return { name, result: true, changes: {}, comment: `ran ${keys.join(',')}` };
};
