import type { StateReturn } from 'tsalt-ssh/module';

export const __func_alias__ = { list_: 'list' };

export const list_ = (name: string): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: 'list',
});
