import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { ModuleContext } from '../../../src/modules/api.ts';
import * as changing from '../../../src/modules/grains/exec/grains/change.ts';
import * as reading from '../../../src/modules/grains/exec/grains/read.ts';
import { readGrainsFile } from '../../../src/modules/grains/grains-file.ts';
import * as state from '../../../src/modules/grains/states/grains.ts';
import { nothing } from '../../helpers/nothing.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const grains = { ...reading, ...changing };

let context: ModuleContext;
let file: string;

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), 'tsalt-grains-')), 'grains');
  context = contextOf(
    { grains },
    {
      grains: { os: 'Debian', roles: ['web'], rack: { unit: 7 }, osfinger: 'Debian-12' },
      opts: { grains_file: file },
    },
  );
});

const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);

test('a grain is found by path, or the default is given', async () => {
  expect(await run(() => grains.get('rack:unit'))).toBe(7);
  expect(await run(() => grains.get('rack:none', 'nothing'))).toBe('nothing');
  expect(await run(() => grains.get('no'))).toBe('');
  expect(await run(() => grains.has_value('roles'))).toBe(true);
});

test('filter_by picks by glob and merges', async () => {
  const table = { Debian: { pkg: 'apache2', a: { b: 1 } }, 'Red*': { pkg: 'httpd' }, default: {} };
  expect(
    await run(() => grains.filter_by(table, { grain: 'os_family', merge: { a: { c: 2 } } })),
  ).toEqual({
    pkg: 'apache2',
    a: { b: 1, c: 2 },
  });
  expect(await run(() => grains.filter_by({ 'Debian-1*': 'twelve' }, { grain: 'osfinger' }))).toBe(
    'twelve',
  );
  expect(await run(() => grains.filter_by({ X: 1 }, { default: 'X' }))).toBe(1);
  expect(
    await run(() => grains.filter_by({ base: { a: 1, b: 1 }, Debian: { b: 2 } }, { base: 'base' })),
  ).toEqual({ a: 1, b: 2 });
});

test('a grain that is set is there at once and stays', async () => {
  expect(await run(() => state.present('rack:row', { value: 'a' }))).toEqual({
    name: 'rack:row',
    result: true,
    comment: 'Set grain rack:row to a',
    changes: { rack: { unit: 7, row: 'a' } },
  });
  expect(context.grains.rack).toEqual({ unit: 7, row: 'a' });
  expect(await readGrainsFile(file)).toEqual({ rack: { unit: 7, row: 'a' } });
  expect(await run(() => state.present('rack:row', { value: 'a' }))).toMatchObject({
    changes: nothing,
    comment: 'Grain is already set',
  });
});

test('a dict is replaced by force only', async () => {
  expect(await run(() => state.present('rack', { value: 'x' }))).toMatchObject({
    result: false,
    comment: "The key 'rack' exists but is a dict or a list. Use 'force=True' to overwrite.",
  });
  expect(await run(() => state.present('rack', { value: 'x', force: true }))).toMatchObject({
    result: true,
  });
});

test('values join and leave a list', async () => {
  expect(await run(() => state.list_present('roles', { value: ['web', 'db'] }))).toMatchObject({
    result: true,
    comment: "Append value ['web', 'db'] to grain roles",
    changes: { new: { roles: ['web', 'db'] } },
  });
  expect(await run(() => state.list_present('roles', { value: 'db' }))).toMatchObject({
    changes: nothing,
  });
  expect(await run(() => state.list_absent('roles', { value: ['db', 'x'] }))).toMatchObject({
    changes: { deleted: ['db'] },
    comment: 'Value db was deleted from grain roles\nValue x is absent from grain roles',
  });
  expect(context.grains.roles).toEqual(['web']);
});

test('a grain goes away', async () => {
  expect(await run(() => state.absent('os', { destructive: true }))).toMatchObject({
    changes: { deleted: 'os' },
  });
  expect(context.grains).not.toHaveProperty('os');
  expect(await run(() => state.absent('os'))).toMatchObject({ comment: 'Grain os does not exist' });
});

test('a grain without a value is there, and can be taken away', async () => {
  expect(await run(() => state.absent('rack:unit'))).toMatchObject({
    changes: { grain: 'rack:unit', value: null },
  });
  expect(await run(() => grains.get('rack:unit', 'default'))).toBeNull();
  expect(await run(() => state.absent('rack:unit', { destructive: true }))).toMatchObject({
    changes: { deleted: 'rack:unit' },
  });
  expect(context.grains.rack).toEqual({});
  expect(await run(() => grains.item('os', 'none'))).toEqual({ os: 'Debian', none: '' });
});

test.each([
  [
    ['a', 'b'],
    ['a', 'b', { x: 1 }],
  ],
  [
    ['x', 'b'],
    [{ x: 1 }, 'b'],
  ],
  [
    [{ x: 0, y: 2 }, 'b'],
    [{ x: 1, y: 2 }, 'b'],
  ],
])('a grain below the list %j keeps its other items', async (before, after) => {
  context.grains.list = before;
  await run(() => grains.set('list:x', 1));
  expect(context.grains.list).toEqual(after);
});

test('test mode writes nothing', async () => {
  const results = await within(testing(context), () =>
    Promise.all([
      state.present('new', { value: 1 }),
      state.list_present('roles', { value: 'db' }),
      state.list_absent('roles', { value: 'web' }),
      state.absent('os', { destructive: true }),
      state.append('roles', { value: 'x' }),
    ]),
  );
  expect(results.map(one => one.result)).toEqual([null, null, null, null, null]);
  expect(() => readFileSync(file)).toThrow();
  expect(context.grains.roles).toEqual(['web']);
});
