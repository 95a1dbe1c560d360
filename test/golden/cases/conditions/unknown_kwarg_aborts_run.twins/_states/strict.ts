import type { Plain, StateReturn } from 'tsalt-ssh/module';

export const go = (name: string, { known }: { known?: Plain } = {}): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: String(known ?? 'None'),
});
