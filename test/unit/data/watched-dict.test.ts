import { expect, test } from 'vitest';
import { type Dict, toDict } from '../../../src/data/values/value.ts';
import { WatchedDict } from '../../../src/data/values/watched-dict.ts';

const before = { os: 'Debian', mem_total: 100, dns: { nameservers: ['10.0.0.1'] } };
const supposed = (...known: string[]): WatchedDict =>
  new WatchedDict(toDict(before), new Set(known));
const now = (change: object): Dict => toDict({ ...before, ...change });

test('a change of a value that nobody read does not matter, and is there afterwards', () => {
  const grains = supposed();
  grains.get('os');

  expect(grains.settle(now({ mem_total: 200, pid: 7 }))).toBe(true);

  expect([...grains]).toEqual([...now({ mem_total: 200, pid: 7 })]);
});

test('a change of a value that was read is found, at any depth', () => {
  const grains = supposed();
  grains.get('dns');

  expect(grains.settle(now({ dns: { nameservers: ['10.0.0.2'] } }))).toBe(false);
  expect(grains.get('mem_total')).toBe(100);
});

test('a key that was missing when it was read, and exists now, counts as a change', () => {
  const looked = supposed();
  looked.has('roles');
  const gone = supposed();
  gone.get('os');

  expect(looked.settle(now({ roles: [] }))).toBe(false);
  expect(gone.settle(toDict({ mem_total: 100 }))).toBe(false);
});

const wholeReads: [string, (grains: Dict) => unknown][] = [
  ['by a loop', grains => [...grains]],
  ['by its keys', grains => [...grains.keys()]],
  ['by its values', grains => [...grains.values()]],
  ['by forEach', grains => grains.forEach(() => undefined)],
  ['by its size', grains => grains.size],
  ['by a copy', grains => new Map(grains)],
];

test.each(wholeReads)('who reads the whole %s reads each', (_, read) => {
  const changed = supposed();
  read(changed);
  const same = supposed();
  read(same);

  expect(changed.settle(now({ mem_total: 200 }))).toBe(false);
  expect(same.settle(now({}))).toBe(true);
});

test('values that are known in any case do not count as read', () => {
  const grains = supposed('os', 'roles');
  grains.get('os');
  grains.has('roles');
  expect(grains.hasRead).toBe(false);

  grains.has('mem_total');
  expect(grains.hasRead).toBe(true);
});

test.each([
  ...wholeReads,
  ['one by one', grains => grains.get('dns')],
  ['by has', grains => grains.has('x')],
] as [string, (grains: Dict) => unknown][])(
  'a closed one refuses who reads it %s, until the real values are there',
  (_, read) => {
    const grains = supposed('os');
    grains.close();

    expect(() => read(grains)).toThrow('This value is not known yet.');
    expect(grains.get('os')).toBe('Debian');
    expect(grains.hasRead).toBe(false);

    const real = { mem_total: 200, dns: null };
    expect(grains.settle(now(real))).toBe(true);
    expect([...grains]).toEqual([...now(real)]);
  },
);
