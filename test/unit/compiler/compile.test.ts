import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowChunks } from '../../../src/compiler/chunks.ts';
import { type CompileOptions, compile } from '../../../src/compiler/compile.ts';
import { loadSls } from '../../../src/compiler/load.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { isWholeFloat } from '../../../src/protocol/whole-floats.ts';
import { memoryLoader } from '../../compiler/memory-loader.ts';

const load = (files: Record<string, string>, names: string[]) =>
  loadSls({ matches: new Map([['base', names]]), loader: memoryLoader({ base: files }) });

const compiled = async (
  files: Record<string, string>,
  names = ['a'],
  options: CompileOptions = {},
) => compile(await load(files, names), options);

const ids = async (...args: Parameters<typeof compiled>): Promise<Plain[]> =>
  lowChunks((await compiled(...args)).chunks).map(chunk => chunk.__id__);

test('a fault names file and line beside the text of Salt', async () => {
  const { errors } = await compiled(
    {
      'a.sls': 'include:\n  - b\n  - nope\nx:\n  test.nop:\n    - require: foo\n',
      'b.sls': 'y:\n  test.nop:\n\nz: 5\n',
    },
    ['a'],
    { collect: 'show' },
  );

  expect(errors.map(({ message, at }) => [message.split('.')[0], at?.file, at?.line])).toEqual([
    ['ID z in SLS b is not a dictionary', 'b.sls', 4],
    [
      'Specified SLS nope in saltenv base is not available on the salt master or through a configured fileserver',
      'a.sls',
      3,
    ],
    ["The require statement in state 'x' in SLS 'a' needs to be formed as a list", 'a.sls', 6],
    ["ID 'y' in SLS 'b' contains a short declaration (test", 'b.sls', 2],
    ['The type z in 5 is not formatted as a dictionary', undefined, undefined],
  ]);
});

test('all broken SLS are reported at once', async () => {
  const { errors } = await compiled(
    { 'a.sls': 'x: [', 'b.sls': '- y', 'c.sls': 'z: {test.nop: []}' },
    ['a', 'b', 'c', 'd'],
  );

  expect(errors.map(({ message }) => message.slice(0, 40))).toEqual(
    [
      "Rendering SLS 'base:a' failed: found unex",
      'SLS b does not render to a dictionary',
      'Error when rendering state with contents',
      "No matching sls found for 'd' in env 'ba",
    ].map(text => expect.stringContaining(text.slice(0, 28))),
  );
});

test('a template that shares lists by anchors does not make its states share them', async () => {
  const { chunks } = await compiled({
    'a.sls':
      'r: {test.nop: []}\nx:\n  test.nop: &args\n    - a: 1\n    - require: &req\n      - test: r\ny:\n  test.nop: *args\nz:\n  test.nop:\n    - require_in: [{test: x}]\n',
  });
  const of = (id: string): PlainDict =>
    lowChunks(chunks).find(chunk => chunk.__id__ === id) as PlainDict;

  expect(of('x')).toMatchObject({ order: 10001, require: [{ test: 'r' }, { test: 'z' }] });
  expect(of('y')).toMatchObject({ order: 10002, require: [{ test: 'r' }] });
});

test('compiling changes nothing it was given', async () => {
  const tree = await load(
    {
      'a.sls':
        'include: [b]\nextend:\n  y:\n    test.nop:\n      - require: [{test: x}]\nx:\n  test.nop:\n    - require_in: [{test: y}]\n    - names: [p, q]\n',
      'b.sls': 'y:\n  test.nop:\n    - require: [{test: z}]\nz: test.nop\n',
    },
    ['a'],
  );
  const first = compile(tree);
  const second = compile(tree);

  expect(first.errors).toEqual([]);
  expect(lowChunks(second.chunks)).toEqual(lowChunks(first.chunks));
});

const name = fc.stringMatching(/^[a-z]{1,6}$/);

test('compiling any requisites returns the same each time and changes nothing', async () => {
  const keyword = fc.constantFrom(
    'require',
    'watch',
    'onchanges',
    'use',
    'require_in',
    'watch_in',
    'prereq_in',
    'use_in',
    'listen_in',
    'onfail_in',
  );
  const link = fc.tuple(keyword, fc.nat(), fc.boolean());
  const state = fc.tuple(
    name,
    fc.array(link, { maxLength: 3 }),
    fc.option(fc.integer({ min: -3, max: 9 })),
    fc.boolean(),
  );
  const states = fc.uniqueArray(state, { selector: ([id]) => id, minLength: 2, maxLength: 12 });
  let good = 0;
  await fc.assert(
    fc.asyncProperty(states, async all => {
      const text = ([id, links, order, plural]: (typeof all)[number]): string => {
        const args = links.map(([key, at, bare]) => {
          const [target] = all[at % all.length] as (typeof all)[number];
          return `    - ${key}: [${bare ? target : `{test: ${target}}`}]\n`;
        });
        const more = order === null ? '' : `    - order: ${order}\n`;
        return `${id}:\n  test.nop:\n    - some: ${id}\n${args.join('')}${more}${plural ? '    - names: [p, q]\n' : ''}`;
      };
      const half = Math.ceil(all.length / 2);
      const files = {
        'a.sls': `include: [b]\n${all.slice(0, half).map(text).join('')}`,
        'b.sls': all.slice(half).map(text).join(''),
      };
      const tree = await load(files, ['a']);
      const shown = ({ chunks, errors }: ReturnType<typeof compile>) => ({
        chunks: lowChunks(chunks),
        errors: errors.map(({ message }) => message),
      });
      const first = shown(compile(tree));
      if (first.errors.length === 0) good += 1;

      expect(shown(compile(tree))).toEqual(first);
      expect(shown(compile(await load(files, ['a'])))).toEqual(first);
    }),
    { numRuns: 150 },
  );

  // The trees must not all be broken ones.
  expect(good).toBeGreaterThan(30);
});

test('the order of definition does not matter where `order` decides', async () => {
  const states = fc.uniqueArray(fc.tuple(name, fc.integer({ min: 1, max: 500 })), {
    selector: ([id]) => id,
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(states, fc.integer(), async (list, seed) => {
      const text = (entries: typeof list): string =>
        entries.map(([id, order]) => `${id}: {test.nop: [{order: ${order}}]}\n`).join('');
      const shuffled = [...list].sort(
        ([a], [b]) => hash(a, seed) - hash(b, seed) || (a < b ? -1 : 1),
      );

      expect(await ids({ 'a.sls': text(shuffled) })).toEqual(await ids({ 'a.sls': text(list) }));
    }),
    { numRuns: 60 },
  );
});

const hash = (text: string, seed: number): number =>
  [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) | 0, seed);

test('extend and exclude never touch another ID', async () => {
  const some = fc.uniqueArray(name, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(some, fc.nat(), fc.nat(), async (all, a, b) => {
      const extended = all[a % all.length] as string;
      const excluded = all[b % all.length] as string;
      const base = all
        .map(id => `"${id}":\n  test.nop:\n    - value: ${id}\n    - arg: old\n`)
        .join('');
      const plain = lowChunks((await compiled({ 'b.sls': base }, ['b'])).chunks);
      const changed = lowChunks(
        (
          await compiled({
            'a.sls': `include: [b]\nextend:\n  "${extended}":\n    test.nop:\n      - arg: new\n      - more: 1\nexclude:\n  - id: "${excluded}"\n`,
            'b.sls': base,
          })
        ).chunks,
      );

      expect(changed).toEqual(
        plain
          .filter(({ __id__ }) => __id__ !== excluded)
          .map(chunk => (chunk.__id__ === extended ? { ...chunk, arg: 'new', more: 1 } : chunk)),
      );
    }),
    { numRuns: 60 },
  );
});

test('includes may be deeper than the call stack', { tags: 'slow', timeout: 240_000 }, async () => {
  const files: Record<string, string> = {};
  for (let at = 0; at < 12_000; at += 1)
    files[`s${at}.sls`] = `include: [s${at + 1}]\nid${at}: test.nop\n`;
  files['s12000.sls'] = 'last: test.nop\n';
  const { chunks, errors } = await compiled(files, ['s0']);

  expect(errors).toEqual([]);
  expect(chunks.length).toBe(12_001);
  expect(chunks[0]?.declaration.id).toBe('last');
});

test('compiling any SLS ends with chunks or errors', async () => {
  const value = fc.letrec(tie => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(null, true, 5, 'x', 'test.nop', 'a b'),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          'test.nop',
          'test',
          'require',
          'require_in',
          'use',
          'prereq',
          'names',
          'order',
          'include',
          'extend',
          'exclude',
          'x',
          'y',
          '__sls__',
          '__proto__',
        ),
        tie('node'),
        { maxKeys: 3 },
      ),
    ),
  })).node;
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom('run', 'show', 'show-sls'), async (data, collect) => {
      const result = await compiled({ 'a.sls': JSON.stringify(data) }, ['a'], {
        collect: collect as 'run',
      });

      expect(result.errors.length > 0 ? result.chunks.length : 0).toBe(0);
      lowChunks(result.chunks);
    }),
    { numRuns: 1500 },
  );
});

test('a float without a fraction is no longer one after an integer replaces it', async () => {
  const { chunks } = await compiled({
    'a.sls':
      'x:\n  test.nop:\n    - value: 1.0\n    - other: 2\n    - names:\n      - first: [value: 1, other: 2.0]\n      - second\n',
  });
  const [first = {}, second = {}] = lowChunks(chunks) as PlainDict[];

  expect([isWholeFloat(first, 'value'), isWholeFloat(first, 'other')]).toEqual([false, true]);
  expect([isWholeFloat(second, 'value'), isWholeFloat(second, 'other')]).toEqual([true, false]);
});
