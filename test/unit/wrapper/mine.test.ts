import { expect, test } from 'vitest';
import type { WrapperContext } from '../../../src/wrapper/context.ts';
import { askHosts } from '../../../src/wrapper/functions/mine.ts';

test('mine.get is refused where no host can be asked, such as in a check of the states', () => {
  const question = { tgt: '*', tgt_type: 'glob', fun: 'network.ip_addrs' };
  expect(() => askHosts({} as WrapperContext, question)).toThrow(
    expect.objectContaining({
      code: 'mine-none',
      message: 'network.ip_addrs: this command asks no hosts.',
    }),
  );
});
