import { expect, test } from 'vitest';
import type { StateFinished } from '../../../src/protocol/job.ts';
import { withoutChanges } from '../../../src/runtime/report.ts';

test.each([
  ['text', 'text'],
  [7, '7'],
  [null, 'None'],
  [{ a: 1 }, "{'a': 1}"],
])('changes too large to be sent are left out beside the comment %j', (comment, shown) => {
  const result = { comment, changes: { big: 'x' }, result: true };
  const finished = { tag: 'a', result } as unknown as StateFinished;

  expect(withoutChanges(finished, new Error('too long')).result).toEqual({
    comment: `${shown}\nThe changes are left out: too long`,
    changes: { a: 'The changes are left out: too long' },
    result: true,
  });
});
