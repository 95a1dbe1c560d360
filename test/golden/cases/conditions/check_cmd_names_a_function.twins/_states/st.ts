import type { Plain, StateReturn } from 'tsalt-ssh/module';

type Options = { ret?: Plain; msg?: string; [key: string]: Plain | undefined };

export const go = (name: string, { ret = null, ...rest }: Options = {}): Plain => {
  void name;
  void rest;
  return ret;
};

export const boom = (name: string, { msg = 'x', ...rest }: Options = {}): StateReturn => {
  void name;
  void rest;
  throw new Error(msg);
};

export const mirror = (name: string, { ...rest }: Options = {}): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: Object.keys(rest)
    .filter(key => !key.startsWith('__'))
    .sort(),
});
