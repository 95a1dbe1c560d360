import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prefetch } from '../../src/control/prepare/prefetch.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import type { LowChunk } from '../../src/protocol/low.ts';

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

test('prefetch: all states of a run get one text of their template, also when it changes meanwhile', async () => {
  const root = mkdtempSync(join(tmpdir(), 'prefetch-'));
  const file = join(root, 'a.txt');
  writeFileSync(file, 'first');
  const texts: string[] = [];
  const { rendered } = await prefetch(
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
  const { rendered } = await prefetch(
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
