import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
beforeAll(async () => {
  project = await startProject({
    files: {
      'pillar/top.sls': "base: {'*': [data]}\n",
      'pillar/data.sls': 'color: blue\nports: {b: 1, 10: x, 9: y}\nratio: 1.0\n',
      'states/_modules/show.ts': `
        import { inspect } from 'node:util';
        import { __context__, __env__, __grains__, __low__, __lowstate__, __opts__, __pillar__, __salt__ } from 'tsalt-ssh/module';
        export const grains = () => __grains__;
        export const pillar = () => __pillar__;
        export const opts = () => __opts__;
        export const context = () => { __context__.mine = { deep: [1] }; return __context__; };
        export const env = () => [__env__, { env: __env__ }];
        export const inside = () => ({ list: [__pillar__, 1], dict: { id: __grains__ } });
        export const map = () => new Map([['pillar', __pillar__]]);
        export const mapped = async () => [...(await __salt__['show.map']()).get('pillar').color].join('');
        export const passed = () => __salt__['test.echo'](__pillar__);
        export const later = async () => {
          const before = await __salt__['show.context']();
          __context__.mine.deep.push(2);
          return before.mine;
        };
        export const tools = () => {
          const cloned = structuredClone({ inner: __pillar__ });
          const pillar = __pillar__;
          return {
            cloned: cloned.inner,
            isCopy: cloned.inner !== pillar,
            spread: { ...__pillar__ },
            json: JSON.parse(JSON.stringify({ pillar: __pillar__ })),
            keys: Object.keys(__pillar__).sort(),
            entries: Object.entries(__pillar__).map(([key]) => key).sort(),
            has: ['color' in __pillar__, 'colour' in __pillar__, Object.hasOwn(__pillar__, 'color')],
            shown: inspect(__pillar__).includes("color: 'blue'"),
            nested: inspect({ p: __pillar__ }, { depth: 9 }).includes("color: 'blue'"),
            context: Object.keys(__context__),
          };
        };
        export const low = () => [__low__, __lowstate__];
      `,
      'states/_states/show.ts': `
        import { inspect } from 'node:util';
        import { __env__, __low__, __lowstate__, __opts__, __pillar__, __running__, type StateReturn } from 'tsalt-ssh/module';
        export const all = (name: string): StateReturn => ({
          name, result: true, comment: '',
          changes: {
            low: __low__, pillar: __pillar__, test: __opts__, env: __env__, all: __lowstate__, done: __running__,
          } as never,
        });
        export const quiet = (name: string): StateReturn => ({ name, result: true, comment: '', changes: {} });
        export const tools = (name: string): StateReturn => ({
          name, result: true, comment: inspect(__low__),
          changes: {
            cloned: structuredClone(__low__), isList: Array.isArray(__lowstate__),
            ids: __lowstate__.map(low => low.__id__), spread: [...__lowstate__].length,
            json: JSON.parse(JSON.stringify(__lowstate__)).length,
          } as never,
        });
        export const mod_watch = (name: string, { sfun }: { sfun?: string } = {}): StateReturn => ({
          name, result: true, comment: sfun ?? '', changes: { low: __low__ } as never,
        });
      `,
      'states/show.sls': [
        'one:',
        '  show.all',
        'two:',
        '  show.tools',
        'three:',
        '  show.quiet:',
        '    - watch: [show: one]',
        '',
      ].join('\n'),
      'states/given.sls': [
        '#!ts',
        "import { __pillar__, __grains__ } from 'tsalt-ssh/sls';",
        'export const run = () => ({',
        "  noted: { 'test.configurable_test_state': [{ changes: false }, { comment: structuredClone(__pillar__).color }] },",
        '});',
        '',
      ].join('\n'),
    },
  });
});
afterAll(() => project.close());

type Any = ReturnType<typeof JSON.parse>;
const value = async (...args: string[]): Promise<Any> => {
  const { stdout, stderr } = await project.run('*', ...args, '--out', 'json', '--static');
  expect(stderr).toBe('');
  return JSON.parse(stdout).web1;
};
const pillar = { color: 'blue', ports: { b: 1, 10: 'x', 9: 'y' }, ratio: 1 };

test('an execution function returns grains, pillar, options and context with their values', {
  tags: 'slow',
}, async () => {
  const grains = await value('show.grains');
  expect(grains.id).toBe('web1');
  expect(grains.kernel).toBe('Linux');
  expect(await value('show.pillar')).toEqual(pillar);
  const opts = await value('show.opts');
  expect(opts).toMatchObject({ id: 'web1', test: false, saltenv: 'base' });
  expect(await value('show.context')).toEqual({ mine: { deep: [1] } });
  expect(await value('show.env')).toEqual(['base', { env: 'base' }]);
});

test('the values come along inside of lists, dicts, Maps and calls', { tags: 'slow' }, async () => {
  expect(await value('show.inside')).toMatchObject({
    list: [pillar, 1],
    dict: { id: { id: 'web1' } },
  });
  expect(await value('show.mapped')).toBe('blue');
  expect(await value('show.passed')).toEqual(pillar);
  expect(await value('show.later')).toEqual({ deep: [1] });
});

test('a returned pillar prints as pillar.items does, with the order of its keys', {
  tags: 'slow',
}, async () => {
  const mine = await project.run('*', 'show.pillar', '--out', 'raw');
  const whole = await project.run('*', 'pillar.items', '--out', 'raw');
  expect(mine.stdout).toBe(whole.stdout);
  expect(mine.stdout).toContain("'ports': {'b': 1, '10': 'x', '9': 'y'}");
});

test('clones, copies, JSON, keys and inspect work on them', async () => {
  expect(await value('show.tools')).toEqual({
    cloned: pillar,
    isCopy: true,
    spread: pillar,
    json: { pillar },
    keys: ['color', 'ports', 'ratio'],
    entries: ['color', 'ports', 'ratio'],
    has: [true, false, true],
    shown: true,
    nested: true,
    context: [],
  });
});

test('a state returns its low chunk, the low state and the results so far', async () => {
  const ret = Object.values<Any>(await value('state.apply', 'show'));
  const [one, two, three] = ret;
  expect(one.changes).toMatchObject({
    low: { __id__: 'one', state: 'show', fun: 'all' },
    pillar,
    test: { test: false },
    env: 'base',
    done: {},
  });
  expect(one.changes.all.map((low: Any) => low.__id__)).toEqual(['one', 'two', 'three']);
  expect(two.comment).toContain("__id__: 'two'");
  expect(two.changes).toMatchObject({
    cloned: { __id__: 'two' },
    isList: true,
    ids: ['one', 'two', 'three'],
    spread: 3,
    json: 3,
  });
  expect(three.comment).toBe('quiet');
  expect(three.changes.low).toMatchObject({ __id__: 'three' });
});

test('a state in test mode returns the options of its own run', async () => {
  const ret = Object.values<Any>(await value('state.apply', 'show', 'test=True'));
  expect(ret[0].changes.test.test).toBe(true);
});

test('an SLS in TypeScript clones the pillar', async () => {
  const ret = Object.values<Any>(await value('state.apply', 'given'));
  expect(ret[0].comment).toBe('blue');
});
