import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowTag } from '../../../src/protocol/low.ts';
import type { RenderedFile } from '../../../src/protocol/prefetch.ts';
import { ArrivingPrefetch } from '../../../src/runtime/session/arriving-prefetch.ts';
import { low } from '../../runtime/helpers/host-process.ts';

const chunksOf = (count: number) =>
  Array.from({ length: count }, (_, at) => low('file.managed', `/${at}`));

const renderedOf = (at: number): Record<string, RenderedFile> => ({
  [`/${at}`]: { sha256: String(at), size: at },
});

const settled = async (promise: Promise<void> | undefined): Promise<boolean> => {
  let isSettled = promise === undefined;
  void promise?.then(() => {
    isSettled = true;
  });
  await new Promise(setImmediate);
  return isSettled;
};

test('ArrivingPrefetch: a state waits for the piece with its template, and for no later one', async () => {
  const runs = fc.integer({ min: 1, max: 12 }).chain(count =>
    fc.record({
      count: fc.constant(count),
      // How far the run itself and each piece reach.
      covers: fc.array(fc.nat(count), { maxLength: 6 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(runs, async ({ count, covers }) => {
      const chunks = chunksOf(count);
      const [first = 0, ...others] = [...covers.toSorted((a, b) => a - b), count];
      const piece = (from: number, to: number): Record<string, RenderedFile> =>
        Object.assign({}, ...chunks.slice(from, to).map((_, at) => renderedOf(from + at)));
      const prefetch = new ArrivingPrefetch({
        chunks,
        prefetch: { rendered: piece(0, first) },
        rendering: { run: 1, covered: first },
      });
      const waits = chunks.map(chunk => prefetch.arrival(lowTag(chunk)));
      let from = first;
      for (const covered of [first, ...others]) {
        if (covered > from) prefetch.add({ run: 1, rendered: piece(from, covered), covered });
        from = Math.max(from, covered);
        for (const [at, wait] of waits.entries()) {
          expect(await settled(wait)).toBe(at < from);
          expect(Object.hasOwn(prefetch.rendered, `/${at}`)).toBe(at < from);
        }
      }
      const seen: string[] = [];
      prefetch.eachPiece(({ rendered }) => seen.push(...Object.keys(rendered)));
      expect(seen).toEqual(chunks.map((_, at) => `/${at}`));
    }),
    { numRuns: 200 },
  );
});

test('ArrivingPrefetch: a state that no SLS has waits for all; the end of the link ends each wait', async () => {
  const chunks = chunksOf(3);
  const prefetch = new ArrivingPrefetch({ chunks, rendering: { run: 1, covered: 1 } });
  const [unknown, last] = [
    prefetch.arrival('made by a module'),
    prefetch.arrival(lowTag(chunks[2] ?? low('test.nop', 'x'))),
  ];
  prefetch.add({ run: 1, rendered: {}, covered: 2 });
  expect([await settled(unknown), await settled(last)]).toEqual([false, false]);
  prefetch.end();
  expect([await settled(unknown), await settled(last)]).toEqual([true, true]);
  expect(prefetch.arrival('another one')).toBeUndefined();
});
