import type { Plain, StateReturn } from 'tsalt-ssh/module';

export const go = (name: string, one: Plain, two: Plain, three: Plain = 3): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: `${one} ${two} ${three}`,
});
