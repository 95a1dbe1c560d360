import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEvents } from 'js-yaml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeptYaml } from '../../../src/control/facts/kept-yaml.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tsalt-yaml-'));
});
afterEach(() => removeFolder(root));

const cachedir = (): string => join(root, 'cache');
const folder = (): string => join(cachedir(), 'yaml');
const files = (): string[] => readdirSync(folder()).map(name => join(folder(), name));

const text = 'password: hunter22\nlist: [a, b]\n';
const events = parseEvents(text, {});

const keep = async (kept: string, more = events): Promise<void> => {
  const run = new KeptYaml(cachedir());
  run.events.put(kept, more);
  await run.save();
};

test('a later run gets the events of the same text, and none of another', async () => {
  await keep(text);

  const later = new KeptYaml(cachedir());

  expect(later.events.get(text)).toEqual(events);
  expect(later.events.get(text.replace('22', '23'))).toBe(undefined);
});

test('a later run gets the tree of the same text, and none of another', async () => {
  const tree = Int32Array.of(6, 0, 0, 0);
  const run = new KeptYaml(cachedir());
  run.trees.put(text, tree);
  await run.save();

  const later = new KeptYaml(cachedir());

  expect(later.trees.get(text)).toEqual(tree);
  expect(later.trees.get(text.replace('22', '23'))).toBe(undefined);
  expect(later.events.get(text)).toBe(undefined);
});

test('the files are private, and hold no word of the text', async () => {
  await keep(text);

  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(files()).toHaveLength(1);
  for (const file of files()) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'latin1')).not.toMatch(/hunter|password|list/);
    expect(file).not.toMatch(/hunter|password|list/);
  }
});

test.each([
  ['cut off', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 46))],
  ['empty', (file: string) => writeFileSync(file, '')],
  ['zeroed', (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
])('a file that is %s is ignored, and written anew', async (_, damage) => {
  await keep(text);
  for (const file of files()) damage(file);

  expect(new KeptYaml(cachedir()).events.get(text)).toBe(undefined);
  await keep(text);
  expect(new KeptYaml(cachedir()).events.get(text)).toEqual(events);
});

test('a cache folder that others may write is not read', async () => {
  await keep(text);
  chmodSync(cachedir(), 0o777);

  expect(new KeptYaml(cachedir()).events.get(text)).toBe(undefined);
});

test('a cache folder that cannot be made costs nothing but time', async () => {
  writeFileSync(cachedir(), 'a file');

  await keep(text);

  expect(new KeptYaml(cachedir()).events.get(text)).toBe(undefined);
});

test('files go after a month', async () => {
  await keep(text);
  const [old = ''] = files();
  utimesSync(old, new Date(), new Date(Date.now() - 31 * 24 * 60 * 60 * 1000));

  await keep('other: 1\n');

  expect(files()).toHaveLength(1);
  expect(files()).not.toContain(old);
});

test('one run adds 16 MB, the folder keeps 64 MB of the newest', async () => {
  const many = Array.from({ length: 100_000 }, () => events[1]).flatMap(event => event ?? []);
  for (let run = 0; run < 5; run += 1) {
    const added = new KeptYaml(cachedir());
    for (let at = 0; at < 5; at += 1) added.events.put(`${run} ${at}`, many);
    await added.save();
  }

  const sizes = files().map(file => statSync(file).size);
  expect(sizes).toHaveLength(14);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(64_000_000);
});
