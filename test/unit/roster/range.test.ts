import { expect, test } from 'vitest';
import { expandEntry } from '../../../src/roster/range.ts';

const at = { file: 'roster.yaml', line: 3 };
const hosts = (id: string, host?: string) =>
  expandEntry(id, host === undefined ? null : new Map([['host', host]]), at).map(one => [
    one.id,
    one.value instanceof Map ? one.value.get('host') : one.value,
  ]);

test.each([
  [
    'web[1:3]',
    undefined,
    [
      ['web1', null],
      ['web2', null],
      ['web3', null],
    ],
  ],
  [
    'web[08:11]',
    'w[08:11].example',
    [
      ['web08', 'w08.example'],
      ['web09', 'w09.example'],
      ['web10', 'w10.example'],
      ['web11', 'w11.example'],
    ],
  ],
  [
    'r[1:2]n[1:2]',
    '10.0.[1:2].1',
    [
      ['r1n1', '10.0.1.1'],
      ['r1n2', '10.0.1.1'],
      ['r2n1', '10.0.2.1'],
      ['r2n2', '10.0.2.1'],
    ],
  ],
  ['web1', 'x', [['web1', 'x']]],
  ['web[a:b]', undefined, [['web[a:b]', null]]],
] as const)('%s with the address %s', (id, host, expanded) => {
  expect(hosts(id, host)).toEqual(expanded);
});

test.each(['web[3:1]', 'web[1:99999]'])('%s is refused with its place', id => {
  expect(() => hosts(id)).toThrow('must go up, by at most 10000 hosts');
});
