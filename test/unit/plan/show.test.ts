import { expect, test } from 'vitest';
import { failedGroups } from '../../../src/plan/show.ts';

test('hosts without a plan whose errors differ in id and address are one line', () => {
  const failed = ['web1', 'web2', 'db1'].map((id, at) => ({
    id,
    message: `Cannot connect to ${id} (192.0.2.${at}:22): the connection was refused.`,
  }));
  const other = { id: 'web3', message: 'Cannot connect to web3 (192.0.2.9:22): no route.' };
  expect(failedGroups([...failed, other] as never)).toEqual([
    { ids: ['web1', 'web2', 'db1'], message: failed[0]?.message },
    { ids: ['web3'], message: other.message },
  ]);
});
