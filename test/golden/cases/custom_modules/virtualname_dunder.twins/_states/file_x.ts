import type { StateReturn } from 'tsalt-ssh/module';

export const __virtualname__ = 'vname';

export const __virtual__ = (): string => __virtualname__;

export const go = (name: string): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: 'vname.go',
});
