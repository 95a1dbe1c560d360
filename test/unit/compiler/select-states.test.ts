import fc from 'fast-check';
import { expect, test } from 'vitest';
import { selectStates } from '../../../src/compiler/select-states.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import type { StateSelection } from '../../../src/protocol/state-selection.ts';

const chunk = (id: string, more: { [key: string]: Plain } = {}): LowChunk =>
  ({
    state: 'test',
    fun: 'nop',
    name: id,
    __id__: id,
    __sls__: 'web',
    __env__: 'base',
    order: 1,
    ...more,
  }) as LowChunk;

const on = (...ids: string[]): Plain => ids.map(id => ({ test: id }));

const idsOf = (chunks: readonly LowChunk[], selection: StateSelection): string[] =>
  selectStates(chunks, selection).chunks.map(({ __id__ }) => __id__);

const site = [
  chunk('package', { tags: ['install'] }),
  chunk('folder', { __sls__: 'base.folders' }),
  chunk('config', { require: on('package', 'folder'), tags: 'config, files' }),
  chunk('service', { watch: on('config'), require: on('package'), tags: ['run'] }),
  chunk('reload', { onchanges: on('config') }),
  chunk('rollback', { onfail: on('service') }),
  chunk('other', { tags: ['config'] }),
];

test.each<[StateSelection, string[]]>([
  [{ only: ['other'] }, ['other']],
  [{ only: ['package'] }, ['package']],
  [{ only: ['config'] }, ['package', 'folder', 'config', 'service', 'reload', 'rollback']],
  [{ only: ['config'], noDeps: true }, ['config', 'service', 'reload', 'rollback']],
  [{ only: ['base.*'] }, ['folder']],
  [{ tags: ['config'], skip: ['service'] }, ['package', 'folder', 'config', 'reload', 'other']],
  [{ skipTags: ['config', 'run'] }, ['package', 'folder']],
  [{ only: ['reload'], noDeps: true, skip: ['config'] }, []],
  [{ from: 'other' }, ['other']],
  [{ until: 'folder' }, ['package', 'folder']],
  [{ from: 'folder', until: 'folder' }, ['folder']],
])('%j selects %j', (selection, ids) => {
  expect(idsOf(site, selection)).toEqual(ids);
});

test('a requisite on what is left out is removed, one on nothing stays to be reported', () => {
  const chunks = [
    chunk('a'),
    chunk('b'),
    chunk('c', { require: on('a', 'b', 'nothing'), listen: on('a') }),
  ];
  const { chunks: selected, leftOut } = selectStates(chunks, { skip: ['a'] });
  expect(leftOut).toBe(1);
  expect(selected[1]).toEqual(chunk('c', { require: on('b', 'nothing') }));
  expect(selectStates(chunks, { only: ['c'], noDeps: true }).chunks).toEqual([
    chunk('c', { require: on('nothing') }),
  ]);
});

test('nothing selected says why, with the nearest name', () => {
  expect(selectStates(site, { only: ['confg'] }).fault).toContain("Did you mean 'config'?");
  expect(selectStates(site, { tags: ['instal'] }).fault).toContain("Did you mean 'install'?");
  expect(selectStates(site, { from: 'servce' }).fault).toContain("Did you mean 'service'?");
  expect(selectStates(site, { only: ['other'], skipTags: ['config'] }).fault).toContain(
    'leave none of the 7 states',
  );
});

const requires = ['require', 'require_any', 'watch', 'watch_any'];
const conditions = ['onchanges', 'onchanges_any', 'onfail', 'prereq'];
const kinds = [...requires, ...conditions, 'listen'];

test('in any graph, what is required and what reacts comes along, and nothing else', () => {
  const graph = fc.integer({ min: 1, max: 20 }).chain(size =>
    fc.tuple(
      fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1), fc.constantFrom(...kinds)), {
        maxLength: 30,
      }),
      fc.subarray([...Array(size).keys()], { minLength: 1 }),
      fc.subarray([...Array(size).keys()]),
      fc.boolean(),
      fc.constant(size),
    ),
  );
  fc.assert(
    fc.property(graph, ([edges, only, skip, noDeps, size]) => {
      const chunks = Array.from({ length: size }, (_, at) => {
        const own: { [kind: string]: Plain[] } = {};
        for (const [from, to, kind] of edges)
          if (from === at && to !== at) own[kind] = [...(own[kind] ?? []), { test: `s${to}` }];
        return chunk(`s${at}`, own);
      });
      const { chunks: selected, leftOut } = selectStates(chunks, {
        only: only.map(at => `s${at}`),
        ...(skip.length > 0 ? { skip: skip.map(at => `s${at}`) } : {}),
        noDeps,
      });
      const kept = new Set(selected.map(({ __id__ }) => Number(__id__.slice(1))));
      expect(leftOut).toBe(size - kept.size);
      expect([...kept]).toEqual([...kept].sort((a, b) => a - b));
      for (const at of skip) expect(kept.has(at)).toBe(false);
      const meets = (at: number, kind: string): number[] =>
        edges.flatMap(([from, to, each]) =>
          from === at && to !== at && each === kind ? [to] : [],
        );
      // A state whose condition can never be met is left out itself.
      const isDead = (at: number): boolean =>
        conditions.some(kind => {
          const met = meets(at, kind);
          return met.length > 0 && !met.some(to => kept.has(to));
        });
      for (const at of kept) {
        expect(isDead(at)).toBe(false);
        for (const [from, to, kind] of edges) {
          const mustCome = (other: number): boolean => !skip.includes(other) && !isDead(other);
          if (from === at && kind !== 'listen' && !noDeps && mustCome(to))
            expect(kept.has(to), `${kind} of ${at} on ${to}`).toBe(true);
          if (to === at && !['require', 'require_any'].includes(kind) && mustCome(from))
            expect(kept.has(from), `${from} reacts to ${at} by ${kind}`).toBe(true);
        }
      }
      for (const each of selected)
        for (const kind of kinds)
          for (const item of (each[kind] as { test: string }[] | undefined) ?? [])
            expect(kept.has(Number(item.test.slice(1)))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
