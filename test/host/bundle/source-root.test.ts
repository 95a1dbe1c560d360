import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packSources } from '../../../src/bundle/packed-sources.ts';
import { sourceRoot, unpackedSources } from '../../../src/bundle/source-root.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-source-root');
const file = join(dir, 'sources.br');
let id = '';
beforeAll(() => {
  const packed = packSources(packageRoot);
  ({ id } = packed);
  writeFileSync(file, packed.bytes);
});
afterAll(remove);

/** A cache folder of a user, and the names in it. */
const cacheOf = (name: string) => {
  const home = join(dir, name);
  const cache = join(home, 'tsalt-ssh');
  return { home, cache, names: () => readdirSync(cache) };
};

test('sourceRoot is the package itself in a clone', () => {
  expect(sourceRoot()).toBe(packageRoot.replace(/\/$/, ''));
});

test('unpackedSources writes what was packed, for this user only, once', () => {
  const { home, names } = cacheOf('usual');
  const root = unpackedSources(file, id, home);
  const path = join(root, 'src/runtime/main.ts');
  expect(readFileSync(path, 'utf8')).toBe(
    readFileSync(join(packageRoot, 'src/runtime/main.ts'), 'utf8'),
  );
  expect([root, join(root, 'src'), path].map(one => statSync(one).mode & 0o777)).toEqual([
    0o700, 0o700, 0o600,
  ]);
  const { mtimeMs } = statSync(path);
  expect(unpackedSources(file, id, home)).toBe(root);
  expect(statSync(path).mtimeMs).toBe(mtimeMs);
  expect(names()).toEqual([`sources-${id}`]);
});

test('unpackedSources removes versions that have not run for long, and parts of killed runs', () => {
  const { home, cache, names } = cacheOf('versions');
  const days = (count: number): Date => new Date(Date.now() - count * 24 * 3600 * 1000);
  const kept = `sources-${'b'.repeat(32)}`;
  for (const [name, age] of [
    [`sources-${'a'.repeat(32)}`, days(40)],
    [kept, days(20)],
    [`sources-${'c'.repeat(32)}.Xy12`, days(2)],
  ] as const) {
    mkdirSync(join(cache, name), { recursive: true, mode: 0o700 });
    utimesSync(join(cache, name), age, age);
  }
  unpackedSources(file, id, home);
  expect(names().sort()).toEqual([`sources-${id}`, kept].sort());
});

test('unpackedSources uses no folder that others can write', () => {
  const { home, cache } = cacheOf('open');
  mkdirSync(join(cache, `sources-${id}`), { recursive: true });
  chmodSync(join(cache, `sources-${id}`), 0o777);
  expect(() => unpackedSources(file, id, home)).toThrow(/private folder/);
});

test('unpackedSources uses a temporary folder if the cache cannot be made', () => {
  writeFileSync(join(dir, 'file'), '');
  const root = unpackedSources(file, id, join(dir, 'file'));
  expect(root).toMatch(/tsalt-sources-/);
  expect(existsSync(join(root, 'src/modules/api.ts'))).toBe(true);
});

test('unpackedSources leaves nothing of a damaged file', () => {
  const { home, names } = cacheOf('damaged');
  const damaged = join(dir, 'damaged.br');
  writeFileSync(damaged, readFileSync(file).subarray(0, 100_000));
  expect(() => unpackedSources(damaged, id, home)).toThrow(`${damaged} is damaged`);
  expect(names()).toEqual([]);
});
