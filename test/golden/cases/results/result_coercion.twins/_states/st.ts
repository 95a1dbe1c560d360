import type { Plain } from 'tsalt-ssh/module';

type Options = { ret?: Plain; [key: string]: Plain | undefined };

export const go = (name: string, ret: Plain, { ...rest }: Options = {}): Plain => {
  void name;
  void rest;
  return ret;
};
