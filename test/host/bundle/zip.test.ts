import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { type Files, workshop } from '../../bundle/workshop.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

const lumberjack = zipSync({
  'lumberjack/index.ts':
    text(`import * as sleep from './sleep/index.ts'; import * as work from './work.ts';
    /** Checks whether a person is really a lumberjack.
     * @param person who */
    export const is_ok = (person: string) => sleep.all_night(person) && work.all_day(person);`),
  'lumberjack/sleep/index.ts': text('export const all_night = (p: string) => p !== "";'),
  'lumberjack/work.ts': text('export const all_day = (p: string) => p === "Michael Palin";'),
});

const reasonOf = (files: Files, name: string): string | undefined => {
  const shop = workshop(files);
  const { broken } = shop.describe(name);
  expect(existsSync(join(shop.dir, 'evil'))).toBe(false);
  return broken;
};

test('a zip archive is a module', async () => {
  const shop = workshop({ 'salt/_modules/lumberjack.zip': lumberjack }, { builtins: ['test'] });
  const { registry, run } = await shop.open();
  const isOk = (person: string) => run({}, async () => registry.salt['lumberjack.is_ok']?.(person));
  expect(await isOk('Michael Palin')).toBe(true);
  expect(await isOk('Eric')).toBe(false);
  const { modules } = await shop.build();
  const { functions } = modules.find(module => module.file === 'lumberjack') ?? {};
  expect(functions?.[0]?.doc).toBe('Checks whether a person is really a lumberjack.');
});

test('an archive cannot write outside of its folder', () => {
  for (const name of ['../../evil', '/tmp/evil', 'a/../../../evil', 'C:evil', 'a\\..\\evil']) {
    const archive = zipSync({ 'bad/index.js': text('exports.x = 1'), [name]: text('evil') });
    expect(reasonOf({ 'salt/_modules/bad.zip': archive }, 'bad')).toMatch(/unsafe name/);
  }
});

test('an archive that unpacks to too much, is damaged or lacks its module is left out', {
  tags: 'slow',
}, () => {
  const bomb = zipSync({ 'bomb/index.js': new Uint8Array(65 * 1024 * 1024) });
  expect(bomb.length).toBeLessThan(1024 * 1024);
  expect(reasonOf({ 'salt/_modules/bomb.zip': bomb }, 'bomb')).toMatch(/more than 64 MiB/);
  expect(reasonOf({ 'salt/_modules/cut.zip': lumberjack.slice(0, 200) }, 'cut')).toBeDefined();
  expect(reasonOf({ 'salt/_modules/other.zip': lumberjack }, 'other')).toMatch(
    /the archive has no other\/index\.ts/,
  );
});

test('an archive that says less than it holds writes no more than it says', () => {
  const honest = zipSync({ 'liar/index.js': [new Uint8Array(1024 * 1024), { level: 9 }] });
  const liar = Buffer.from(honest);
  // The uncompressed size in both headers says 16 bytes.
  liar.writeUInt32LE(16, 22);
  const central = liar.indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
  liar.writeUInt32LE(16, central + 24);
  const shop = workshop({ 'salt/_modules/liar.zip': liar });
  const { functions } = shop.describe('liar');
  const unpacked = join(shop.dir, 'zip');
  const files = existsSync(unpacked)
    ? readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
    : [];
  const written = files
    .map(file => statSync(join(unpacked, file)))
    .filter(stat => stat.isFile())
    .reduce((sum, { size }) => sum + size, 0);
  expect(written).toBeLessThan(1024);
  expect(functions).toEqual([]);
});
