import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashBytes } from '../../../src/modules/_shared/files/file-hash.ts';
import type { FetchMany } from '../../../src/modules/_shared/sources/fetch-ahead.ts';
import {
  fetchNow,
  type ListedSource,
  RequestBatches,
} from '../../../src/modules/file/fetch-now.ts';
import { largestOfMany, mostOfMany } from '../../../src/protocol/many-files.ts';

type Source = ListedSource & { readonly state: 'sent' | 'changed' | 'gone' };

const contentOf = ({ path }: ListedSource): Buffer => Buffer.from(`content of ${path}`);

/** @param size the listed one, which decides how many files a request has */
const sourceOf = (at: number, size: number, state: Source['state']): Source => {
  const path = `tree/f${at}`;
  const sha256 = hashBytes(contentOf({ path, saltenv: 'base', sha256: '', size }));
  return { path, saltenv: 'base', sha256, size, state };
};

const sources = fc
  .array(
    fc.record({
      size: fc.integer({ min: 0, max: largestOfMany + 2000 }),
      state: fc.constantFrom<Source['state']>('sent', 'sent', 'sent', 'changed', 'gone'),
    }),
    { maxLength: 1500 },
  )
  .map(all => all.map(({ size, state }, at) => sourceOf(at, size, state)));

/** A control node, and what it was asked for. */
const controlNode = (all: readonly Source[]) => {
  const byPath = new Map(all.map(source => [source.path, source]));
  const asked: string[] = [];
  const seen = { open: 0, mostOpen: 0, mostItems: 0 };
  const fetchMany: FetchMany = async (items, take) => {
    seen.open += 1;
    seen.mostOpen = Math.max(seen.mostOpen, seen.open);
    seen.mostItems = Math.max(seen.mostItems, items.length);
    try {
      for (const [at, [path]] of items.entries()) {
        asked.push(path);
        if (at % 50 === 0) await turn();
        const source = byPath.get(path);
        if (source?.state === 'sent') take(at, contentOf(source));
        else take(at, source?.state === 'changed' ? Buffer.from('another') : undefined);
      }
    } finally {
      seen.open -= 1;
    }
  };
  return { fetchMany, asked, seen };
};

/** Adds files, some before they are taken and some after, and returns what takes them. */
const taker = (all: readonly Source[]): (() => Promise<readonly Source[]>) => {
  const byPath = new Map(all.map(source => [source.path, source]));
  const batches = new RequestBatches();
  const add = (from: number, to: number): void => {
    for (const { path, size } of all.slice(from, to)) batches.add(path, size);
  };
  const half = all.length >> 1;
  add(0, half);
  setImmediate(() => {
    add(half, all.length);
    batches.end();
  });
  return async () => (await batches.take()).map(path => byPath.get(path) as Source);
};

test('each small file that comes as it was listed is used once, with its bytes, in bounded requests', async () => {
  await fc.assert(
    fc.asyncProperty(sources, async all => {
      const { fetchMany, asked, seen } = controlNode(all);
      const used = new Map<string, string>();
      await fetchNow(taker(all), fetchMany, ({ path }, bytes) => {
        expect(used.has(path)).toBe(false);
        used.set(path, bytes.toString());
      });
      const small = all.filter(({ size }) => size <= largestOfMany);

      expect([...used.keys()].toSorted()).toEqual(
        small
          .filter(({ state }) => state === 'sent')
          .map(({ path }) => path)
          .toSorted(),
      );
      for (const [path, text] of used) expect(text).toBe(`content of ${path}`);
      expect(asked.toSorted()).toEqual(small.map(({ path }) => path).toSorted());
      expect(seen.mostOpen).toBeLessThanOrEqual(32);
      expect(seen.mostItems).toBeLessThanOrEqual(mostOfMany);
    }),
    { numRuns: 30 },
  );
});

test.each(['use', 'request'])('after a %s that fails, nothing more is requested', async what => {
  const all = Array.from({ length: 20_000 }, (_, at) => sourceOf(at, 100, 'sent'));
  const { fetchMany, asked } = controlNode(all);
  let failures = 0;
  const fail = (): never => {
    failures += 1;
    throw new Error('no space is left');
  };
  await fetchNow(
    taker(all),
    (items, take) =>
      what === 'request' && items.some(([path]) => path === 'tree/f5000')
        ? fetchMany(items, take).then(fail)
        : fetchMany(items, take),
    () => {
      if (what === 'use') fail();
    },
  );

  // One for each request that was on its way.
  expect(failures).toBeGreaterThan(0);
  expect(failures).toBeLessThanOrEqual(32);
  expect(asked.length).toBeLessThan(20_000);
});
