import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost } from '../../states/runner.ts';

const canRead = spawnSync('iptables', ['-S', 'INPUT']).status === 0;

test.skipIf(!canRead)('append takes any position, insert a whole number only', async () => {
  const host = makeHost();
  const rule = { chain: 'INPUT', jump: 'REJECT', source: '192.0.2.77', position: 'last' };
  expect(await host.test('iptables.append', 'web', rule)).toMatchObject({
    result: null,
    changes: nothing,
    comment: expect.stringContaining('iptables rule for web needs to be set'),
  });
  expect(await host.test('iptables.insert', 'web', rule)).toMatchObject({
    result: false,
    comment: 'The argument "position" must be a whole number, not "last".',
  });
});
