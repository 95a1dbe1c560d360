import { expect, test } from 'vitest';
import type { WrapperContext } from '../../src/wrapper/context.ts';
import { askHosts } from '../../src/wrapper/functions/mine.ts';

test('mine.get of a host behind a queue worker is refused with what to do instead', () => {
  const question = { tgt: '*', tgt_type: 'glob', fun: 'mine.get' };
  expect(() => askHosts({} as WrapperContext, question)).toThrow(
    expect.objectContaining({
      code: 'mine-none',
      hint: expect.stringMatching(/without via, or put the data into the pillar: ext_pillar/),
    }),
  );
});
