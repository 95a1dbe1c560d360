// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Plain } from '../../../../src/protocol/plain.ts';
import { ofSerialized } from '../../../../src/render/taint/align.ts';
import { TaintTable } from '../../../../src/render/taint/taint-table.ts';
import { longestTurn } from '../../../helpers/cpu-time.ts';
import { growth } from '../../../helpers/growth.ts';
import { taintedSite } from '../../../render/taint/site.ts';

const loops: readonly string[] = [
  '#!jinja|yaml\na: [{% for x in grains.l %}{{ x }}, {% endfor %}]',
  '#!jinja|yaml\na: {{ grains.l | join("x") | replace("x", "yz") }}',
  '#!jinja|yaml\na: {{ (grains.l | join("\\n")) | indent(2) | yaml_dquote }}',
  '#!jinja|yaml\n{% set ns = namespace(s="") %}{% for x in grains.l %}{% set ns.s = ns.s ~ x %}{% endfor %}a: {{ ns.s }}',
  '#!liquid|yaml\na: [{% for x in grains.l %}{{ x }}, {% endfor %}]',
  '#!liquid|yaml\n{% capture x %}{% for x in grains.l %}{{ x }}{% endfor %}{% endcapture %}a: {{ x }}',
];

test.each(loops)('%j: needs time in proportion to what a host sends', async text => {
  const work = (count: number) => {
    const { data } = taintedSite({
      grains: { l: Array.from({ length: count }, (_, index) => `v${index}`) },
    });
    return () => data(text);
  };
  await work(10)();

  expect(await growth(work, 16_000, 150)).toBeUndefined();
});

test.each([
  // Each may be in the text, by its sequences of three characters.
  [
    'very many strings',
    Array.from({ length: 60_000 }, (_, at) => `${'value\nname: '.repeat(9)}${at}`),
  ],
  ['letters that are everywhere', ['a', 'e', ':', ' ']],
])('a text of unknown origin is tainted as a whole where a host sent %s', async (_, sent) => {
  const text = 'name: value\n'.repeat(50_000);
  const table = new TaintTable('bad');
  table.hear(sent, 'grain "l"');
  table.of('');
  const longest = await longestTurn(async () => {
    expect(table.partsOf(text)).toEqual([{ start: 0, end: text.length, source: 'data' }]);
  });
  expect(longest).toBeLessThan(150);
  expect(table.partsOf('a: x0 a8\n') ?? []).not.toContainEqual({
    start: 0,
    end: 9,
    source: 'data',
  });
});

test('a long text of unknown origin is searched for each string that a host sent', async () => {
  const strings = Array.from({ length: 60_000 }, (_, at) => `no such text ${at}`);
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 5 });
  fc.assert(
    fc.property(names, names, (sent, others) => {
      const text = `${'name: value\n'.repeat(10)}${[...sent, ...others].join('\n')}`;
      const table = new TaintTable('bad');
      table.hear([...strings, ...sent], 'grain "l"');
      const few = new TaintTable('bad');
      few.hear(sent, 'grain "l"');
      expect(table.partsOf(text)).toEqual(few.partsOf(text));
    }),
    { numRuns: 10 },
  );
});

test('a long value that is printed whole is one tainted value', async () => {
  const list = Array.from({ length: 20_000 }, (_, index) => `v${index}`);
  const text = JSON.stringify(list);
  const look = () => [{ start: 0, end: 2, source: 'grain "l"' }] as const;
  const isNode = { start: 0, end: text.length, source: 'grain "l"', isNode: true };
  expect(ofSerialized(list, text, look)).toEqual([isNode]);
  expect(ofSerialized(list.slice(0, 3), JSON.stringify(list.slice(0, 3)), look)).toHaveLength(3);

  const { data } = taintedSite({ grains: { l: list } });
  expect(await data('#!jinja|yaml\na: {{ grains.l | tojson }}')).toEqual({ a: list });
});

const states = (count: number) => ({
  grains: { l: Array.from({ length: count }, (_, index) => `a value: ${index}`) },
  text: '#!jinja|yaml\n{% for x in grains.l %}"{{ loop.index }}":\n  - name: {{ x | yaml_dquote }}\n{% endfor %}',
});

test('other work continues while long data that a host filled is read', async () => {
  const { grains, text } = states(20_000);
  const { data } = taintedSite({ grains });
  await data(text);
  let read: Plain | undefined;
  const longest = await longestTurn(async () => {
    read = await data(text.replace('- name', '- title'));
  });
  expect(Object.keys(read ?? {})).toHaveLength(20_000);
  expect(read).toMatchObject({ 20000: [{ title: 'a value: 19999' }] });
  expect(longest).toBeLessThan(400);
});

test('a host that fills data without end is refused, a long text of it is not', async () => {
  const { grains, text } = states(55_000);
  const { data } = taintedSite({ grains });
  await expect(data(text)).rejects.toMatchObject({
    code: 'render-long',
    message: 'What web1 sent fills more than 100000 lines or items of this file.',
  });

  const list = Array.from({ length: 30_000 }, (_, index) => `v${index}`);
  const log = list.join('\n').repeat(10);
  const long = taintedSite({ grains: { l: list, log } });
  await expect(long.data('#!jinja|yaml\na: {{ grains.l | tojson }}')).rejects.toMatchObject({
    code: 'yaml-long',
    message: expect.stringContaining('what web1 sent fills more than 25000 lines or items'),
  });
  expect(await long.data('#!jinja|yaml\na: {{ grains.log | yaml_dquote }}')).toEqual({ a: log });
});
