import { expect, test } from 'vitest';
import { outlineOf } from '../../../src/lsp/text/outline.ts';

test.each([
  ['tags: [web]\nx: test.nop\n', ['x']],
  ['tags: web\nx: test.nop\n', ['x']],
  ['tags:\n  - web\n  - front\nx:\n  test.nop: []\n', ['x']],
  ['tags: test.nop\n', ['tags']],
  ['tags:\n  test.nop: []\n', ['tags']],
  ['extend:\n  tags:\n    test.nop: []\n', ['tags']],
])('the tags in the header of an SLS are not an ID: %j', (sls, ids) => {
  expect(outlineOf(sls).ids.map(({ id }) => id)).toEqual(ids);
});
