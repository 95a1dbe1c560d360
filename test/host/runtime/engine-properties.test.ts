import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LowChunk, lowTag } from '../../../src/protocol/low.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { low } from '../../runtime/helpers/host-process.ts';
import { type EngineRun, runEngine } from '../../runtime/helpers/run-engine.ts';

const kinds = [
  'require',
  'require_any',
  'watch',
  'watch_any',
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'prereq',
  'listen',
];

type Link = { readonly kind: string; readonly from: number; readonly to: number };
type Node = { readonly fun: string; readonly parallel: boolean; readonly failhard: boolean };

const node = fc.record({
  fun: fc.constantFrom('t.ok', 't.ok', 't.changes', 't.changes', 't.fail', 't.raise'),
  parallel: fc.boolean(),
  failhard: fc.constant(false),
});

const graph = (allowed: readonly string[]) =>
  fc.integer({ min: 1, max: 9 }).chain(count =>
    fc.record({
      nodes: fc.array(node, { minLength: count, maxLength: count }),
      links: fc.array(
        fc.record({
          kind: fc.constantFrom(...allowed),
          from: fc.nat(count - 1),
          to: fc.nat(count - 1),
        }),
        { maxLength: 14 },
      ),
    }),
  );

/** The compiler's result for this: `onfail` also names its target. */
const toChunks = (nodes: readonly Node[], links: readonly Link[]): LowChunk[] =>
  nodes.map(({ fun, parallel }, at) => {
    const chunk = low(fun, `s${at}`, parallel ? { parallel: true } : {});
    for (const { kind, from, to } of links) {
      if (from === at) chunk[kind] = [...((chunk[kind] as []) ?? []), { t: `s${to}` }];
      if (to === at && kind === 'prereq')
        chunk.prerequired = [...((chunk.prerequired as []) ?? []), { t: `s${from}` }];
    }
    return chunk;
  });

const realCalls = ({ calls }: EngineRun, name: string) =>
  calls.filter(call => call.name === name && !call.test && call.fun !== 't.mod_watch');

test('with any graph, the run ends, every state has a result, none runs twice', {
  tags: 'slow',
}, async () => {
  await fc.assert(
    fc.asyncProperty(graph(kinds), async ({ nodes, links }) => {
      const chunks = toChunks(nodes, links);

      const run = await runEngine(chunks);

      for (const chunk of chunks) {
        expect(realCalls(run, String(chunk.name)).length).toBeLessThanOrEqual(1);
        if (!links.some(({ kind }) => kind === 'prereq'))
          expect(run.results).toHaveProperty([lowTag(chunk)]);
      }
    }),
    { numRuns: 400 },
  );
});

test('states that all require, watch and prereq each other end soon', async () => {
  const nodes = Array.from({ length: 12 }, () => ({
    fun: 't.ok',
    parallel: false,
    failhard: false,
  }));
  const links = nodes.flatMap((_, from) =>
    nodes.flatMap((__, to) => ['prereq', 'onfail', 'watch_any'].map(kind => ({ kind, from, to }))),
  );

  const { results } = await runEngine(toChunks(nodes, links));

  expect(Object.values(results).some(({ result }) => result === false)).toBe(true);
});

test('a state never begins before all it requires has ended well', async () => {
  await fc.assert(
    fc.asyncProperty(graph(['require', 'watch', 'onchanges']), async ({ nodes, links }) => {
      const run = await runEngine(toChunks(nodes, links));

      for (const { from, to } of links) {
        const begun = run.times.indexOf(`begin s${from}`);
        if (begun < 0) continue;
        const required = Object.values(run.results).find(({ __id__ }) => __id__ === `s${to}`);
        expect(required?.result).toBe(true);
        if (required?.__state_ran__ === false) continue; // its own requisites let it be
        const ended = run.times.indexOf(`end s${to}`);
        expect(ended).toBeGreaterThanOrEqual(0);
        expect(ended).toBeLessThan(begun);
      }
    }),
    { numRuns: 400 },
  );
});

test('without cycles nothing is called recursive, and no order of definition changes an outcome', async () => {
  const acyclic = graph(['require', 'require_any', 'watch', 'onchanges', 'onfail']).map(
    ({ nodes, links }) => ({ nodes, links: links.filter(({ from, to }) => to < from) }),
  );
  await fc.assert(
    fc.asyncProperty(acyclic, fc.infiniteStream(fc.nat()), async ({ nodes, links }, random) => {
      const chunks = toChunks(nodes, links);
      const shuffled = chunks
        .map(chunk => ({ chunk, key: random.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ chunk }) => chunk);

      const [first, second] = [await runEngine(chunks), await runEngine(shuffled)];

      const shown = ({ results }: EngineRun) =>
        Object.fromEntries(
          Object.entries(results).map(([tag, { result, comment }]) => [tag, [result, comment]]),
        );
      expect(shown(second)).toEqual(shown(first));
      expect(JSON.stringify(first.results)).not.toContain('Recursive');
    }),
    { numRuns: 200 },
  );
});

test('stopped after any state, a run starts nothing more', async () => {
  await fc.assert(
    fc.asyncProperty(graph(['require', 'listen']), fc.nat(5), async ({ nodes, links }, count) => {
      const serial = nodes.map(item => ({ ...item, parallel: false }));

      const run = await runEngine(toChunks(serial, links), { stopAfter: count });

      expect(run.reported.length).toBeLessThanOrEqual(Math.max(count, 0) + 1);
    }),
    { numRuns: 100 },
  );
});

test('a ring or a chain of many thousand requisites is settled in linear time, without recursion', {
  tags: 'slow',
}, async () => {
  const ring = (count: number, closed: boolean): LowChunk[] =>
    Array.from({ length: count }, (_, at) => {
      const next = at === 0 ? (closed ? count - 1 : undefined) : at - 1;
      return low('t.ok', `s${at}`, next === undefined ? {} : { require: [{ t: `s${next}` }] });
    }).reverse();
  const time = async (count: number, closed: boolean): Promise<number> => {
    const begin = cpuTime();
    const { results } = await runEngine(ring(count, closed));
    const good = Object.values(results).filter(({ result }) => result === true).length;
    expect([Object.keys(results).length, good]).toEqual([count, closed ? 0 : count]);
    return cpuTime() - begin;
  };
  for (const closed of [true, false]) {
    await time(200, closed);
    const small = await time(1000, closed);
    const large = await time(16_000, closed);
    // Sixteen times the states; a square would take 256 times as long.
    expect(large / small).toBeLessThan(80);
  }
});
