import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeptHashes } from '../../../src/control/facts/kept-hashes.ts';
import { listWithHashes } from '../../../src/control/prepare/list-folder.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import { FolderHashes } from '../../../src/fileserver/folder-hashes.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const count = 300;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tsalt-hashes-'));
  for (let at = 0; at < count; at += 1) write(`f${at}`, `number ${at}\n`);
  // The files are as old as those that nobody has just written.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  removeFolder(root);
});

const file = (name: string): string => join(root, 'states/tree', name);
const write = (name: string, text: string): void => {
  mkdirSync(join(root, 'states/tree'), { recursive: true });
  writeFileSync(file(name), text);
};
const cachedir = (): string => join(root, 'cache');
const kept = (): string[] => {
  const folder = join(cachedir(), 'hashes');
  return existsSync(folder) ? readdirSync(folder).map(name => join(folder, name)) : [];
};

/** Lists the folder as a run does. Returns the hashes, and how many of them were computed. */
const run = async (path = 'tree') => {
  const keptHashes = new KeptHashes(cachedir());
  const reused = vi.spyOn(FolderHashes.prototype, 'get');
  const roots = new FileRoots({ base: [join(root, 'states')] }, { keptHashes });
  const listed = await listWithHashes(roots, { path, saltenv: 'base' });
  await keptHashes.save();
  const known = reused.mock.results.filter(({ value }) => value !== undefined).length;
  reused.mockRestore();
  const hashes = Object.fromEntries(listed.map(([name, , , sha256]) => [name, sha256]));
  return { hashes, computed: listed.length - known };
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

test('a later run computes the hashes of no files that have not changed', async () => {
  const first = await run();
  const later = await run();

  expect(first.computed).toBe(count);
  expect(later.computed).toBe(0);
  expect(later.hashes).toEqual(first.hashes);
  expect(later.hashes.f7).toBe(hashOf('number 7\n'));
});

test('a changed file of the same size and with the same mtime is hashed again', async () => {
  utimesSync(file('f7'), 1e9, 1e9);
  await run();
  const before = statSync(file('f7'));
  write('f7', 'NUMBER 7\n');
  utimesSync(file('f7'), 1e9, 1e9);
  const { ino, size, mtimeMs } = statSync(file('f7'));
  const later = await run();

  expect({ ino, size, mtimeMs }).toEqual({
    ino: before.ino,
    size: before.size,
    mtimeMs: before.mtimeMs,
  });
  expect(later.hashes.f7).toBe(hashOf('NUMBER 7\n'));
  expect(later.computed).toBe(1);
  expect((await run()).computed).toBe(0);
});

test('hashes of files that have just been written are not kept', async () => {
  vi.useRealTimers();
  await run();

  expect((await run()).computed).toBe(count);
});

test.each([
  ['cut short', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 1000))],
  ['empty', (path: string) => writeFileSync(path, '')],
  [
    'damaged in one byte',
    (path: string) => {
      const bytes = readFileSync(path);
      bytes[count * 40 + 100] = (bytes[count * 40 + 100] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
  ],
  ['readable by others', (path: string) => chmodSync(path, 0o644)],
])('kept hashes that are %s are not used', async (_, change) => {
  const first = await run();
  for (const path of kept()) change(path);
  const later = await run();

  expect(later.computed).toBe(count);
  expect(later.hashes).toEqual(first.hashes);
  expect((await run()).computed).toBe(0);
});

test.skipIf(process.platform === 'win32')(
  'kept hashes are for their owner only, and a folder that others can write is not used',
  async () => {
    await run();

    expect(kept().map(path => statSync(path).mode & 0o777)).toEqual([0o600]);
    expect(statSync(join(cachedir(), 'hashes')).mode & 0o777).toBe(0o700);
    chmodSync(join(cachedir(), 'hashes'), 0o777);
    expect((await run()).computed).toBe(count);
  },
);

test('files that are gone are kept no longer', async () => {
  await run();
  const [before = 0] = kept().map(path => statSync(path).size);
  for (let at = 0; at < 50; at += 1) rmSync(file(`f${at}`));
  const later = await run();
  const sizes = kept().map(path => statSync(path).size);

  expect(later.computed).toBe(0);
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan((before * (count - 49)) / count);
});

test('hashes of small folders are not kept, and a folder that stays as it is is written once', async () => {
  mkdirSync(file('few'));
  write('few/a', 'a\n');
  await run('tree/few');
  expect(kept()).toEqual([]);
  await run();
  const [path = ''] = kept();
  const { ino } = statSync(path);
  await run();

  expect(statSync(path).ino).toBe(ino);
});

test('a run hashes each file once, however many hosts list it', async () => {
  const keptHashes = new KeptHashes(cachedir());
  const roots = new FileRoots({ base: [join(root, 'states')] }, { keptHashes });
  const put = vi.spyOn(FolderHashes.prototype, 'put');
  const folder = { path: 'tree', saltenv: 'base' };
  const first = await listWithHashes(roots, folder);
  const second = await listWithHashes(roots, folder);

  expect(second).toEqual(first);
  expect(put).toHaveBeenCalledTimes(count);
});
