import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunPrefetch } from '../../../src/control/prepare/prefetch.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';

const chunk = (name: string): LowChunk => ({
  state: 'file',
  fun: 'managed',
  name,
  order: 1,
  source: 'salt://a.txt',
  template: 'jinja',
  __id__: name,
  __sls__: 's',
  __env__: 'base',
});

const wholePrefetch = async (...of: Parameters<typeof RunPrefetch.begin>) =>
  (await RunPrefetch.begin(...of)).whole();

test('prefetch: all states of a run get one text of their template, also when it changes meanwhile', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  const file = join(root, 'a.txt');
  writeFileSync(file, 'first');
  const texts: string[] = [];
  const { rendered } = await wholePrefetch(
    [chunk('/1'), chunk('/2')],
    new FileRoots({ base: [root] }),
    async (_, text, path) => {
      expect(path).toBe(file);
      writeFileSync(file, 'second');
      texts.push(text);
      return `${text} rendered`;
    },
  );
  expect(texts).toEqual(['first', 'first']);
  expect(Object.values(rendered ?? {}).map(({ size }) => size)).toEqual([14, 14]);
});

test('prefetch: small texts are sent with a run, as far as 8 KiB suffice', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  writeFileSync(join(root, 'a.txt'), '');
  const sizes = [3000, ...Array.from({ length: 20 }, () => 2000)];
  const left = [...sizes];
  const { rendered } = await wholePrefetch(
    sizes.map((_, at) => chunk(`/${at}`)),
    new FileRoots({ base: [root] }),
    async () => 'x'.repeat(left.shift() ?? 0),
  );
  const all = Object.values(rendered ?? {});
  expect(all.map(({ size }) => size)).toEqual(sizes);
  expect(all.map(({ text }) => text?.length)).toEqual([
    undefined,
    ...Array.from({ length: 20 }, (_, at) => (at < 4 ? 2000 : undefined)),
  ]);
});

test('prefetch: what was rendered before and after the run is handed over makes the whole, once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  writeFileSync(join(root, 'a.txt'), '');
  await fc.assert(
    fc.asyncProperty(fc.nat(180), fc.nat(180), async (count, handedOver) => {
      const chunks = Array.from({ length: count }, (_, at) => chunk(`/${at}`));
      let reach = (): void => undefined;
      const reached = new Promise<void>(resolve => {
        reach = resolve;
      });
      let rendered = 0;
      const ahead = await RunPrefetch.begin(
        chunks,
        new FileRoots({ base: [root] }),
        async ({ chunk: { name } }) => {
          if (rendered === handedOver) reach();
          rendered += 1;
          return `text of ${name}`;
        },
      );
      if (handedOver < count) await reached;
      const later: { rendered: object; covered: number }[] = [];
      const { prefetch, covered } = ahead.handOver(piece => void later.push(piece));
      const whole = await ahead.whole();
      const covers = [covered, ...later.map(piece => piece.covered)];
      expect(covers).toEqual(covers.toSorted((a, b) => a - b));
      expect(covers.at(-1)).toBe(count);
      const pieces = [prefetch.rendered ?? {}, ...later.map(piece => piece.rendered)];
      const names = pieces.map(piece => Object.keys(piece).map(nameIn));
      expect(names.flat()).toEqual(chunks.map(({ name }) => name));
      // A piece has all that it covers.
      for (const [at, end] of covers.entries())
        expect(names.slice(0, at + 1).flat().length).toBe(end);
      expect(whole.rendered).toBe(prefetch.rendered);
    }),
    { numRuns: 60 },
  );
});

test('prefetch: nothing more is rendered after the run has ended', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  writeFileSync(join(root, 'a.txt'), '');
  const names: unknown[] = [];
  const ahead = await RunPrefetch.begin(
    Array.from({ length: 500 }, (_, at) => chunk(`/${at}`)),
    new FileRoots({ base: [root] }),
    async ({ chunk: { name } }) => {
      names.push(name);
      if (names.length === 70) ahead.stop();
      return '';
    },
  );
  await ahead.whole();
  expect(names).toHaveLength(100);
});

test('prefetch: a failure before the run is handed over leaves nothing to wait for', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  writeFileSync(join(root, 'a.txt'), '');
  const broken = { ...chunk('/broken'), context: { big: 1n } } as unknown as LowChunk;
  const ahead = await RunPrefetch.begin(
    [chunk('/1'), broken],
    new FileRoots({ base: [root] }),
    async () => '',
  );
  await expect(ahead.whole()).rejects.toThrow('BigInt');
  expect(ahead.handOver(() => undefined).covered).toBeGreaterThanOrEqual(2);
});

const nameIn = (key: string): unknown => (JSON.parse(key) as readonly unknown[])[0];

test('prefetch: folders of file.recurse are listed with the run as far as the host may know them and 2,000 files suffice', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  for (const [folder, count] of Object.entries({ small: 2, refused: 1, large: 1999, more: 3 })) {
    mkdirSync(join(root, folder));
    for (let at = 0; at < count; at += 1) writeFileSync(join(root, folder, `f${at}`), '');
  }
  const recurse = (source: LowChunk['source']): LowChunk => ({
    ...chunk('/x'),
    fun: 'recurse',
    source,
  });
  const { lists = {} } = await wholePrefetch(
    [
      ...['small', 'refused', 'large', 'missing', 'more/', 'small/../refused'].map(
        name => `salt://${name}`,
      ),
      'salt://small?saltenv=dev',
      ['salt://missing', 'salt://small'],
    ].map(recurse),
    new FileRoots({ base: [root] }),
    async () => '',
    path => path !== 'refused',
  );
  expect(Object.keys(lists)).toEqual(['base|small', 'base|more']);
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  expect(lists['base|small']).toEqual(
    ['f0', 'f1'].map(name => [name, 0, statSync(join(root, 'small', name)).mode & 0o7777, empty]),
  );
});
