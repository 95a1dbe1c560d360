import { expect, test } from 'vitest';
import { collectionTaint } from '../../../src/data/collection-taint.ts';
import { type Ranges, rangesOf, type TaintRange } from '../../../src/data/taint.ts';
import { toPlain } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';

/** `{{n}}` is replaced by the n-th value, raw; `{{n!}}` by one that a serializer wrote. */
const fill = (template: string, values: readonly string[]) => {
  const list: TaintRange[] = [];
  let text = '';
  for (const part of template.split(/(\{\{\d!?\}\})/)) {
    const [, number, node] = /^\{\{(\d)(!?)\}\}$/.exec(part) ?? [];
    const start = text.length;
    text += number === undefined ? part : values[Number(number)];
    if (number !== undefined && text.length > start)
      list.push({ start, end: text.length, source: 'grain "os"', isNode: node === '!' });
  }
  return { text, ranges: rangesOf(list) };
};

const load = (template: string, ...values: string[]) => {
  const { text, ranges } = fill(template, values);
  return loadYaml(text, {
    file: 'x.sls',
    ...(ranges ? { taint: { ranges, owner: 'web1' } } : {}),
  });
};

const refused = expect.objectContaining({ code: 'render-tainted', kind: 'render' });

const attacks: readonly (readonly [template: string, ...values: string[]])[] = [
  ['a: {{0}}\n', 'x\nb: 1'],
  ['a: {{0}}\n', 'x\n b: 1'],
  ['a: {{0}}\n', 'b: 1'],
  ['a: {{0}}\n', 'x #'],
  ['a: {{0}} b\n', 'x #'],
  ['a: x{{0}}# b\n', ' '],
  ['a:{{0}}\n', ' x'],
  ['- {{0}}\n', '- x'],
  ['-{{0}}\n', ' x'],
  ['a: [{{0}}]\n', 'x, y'],
  ['a: [{{0}}]\n', 'x], b: [y'],
  ['a: {{0}}\n', '[x]'],
  ['a: {{0}}\n', '{x: y}'],
  ['a: {{0}}\n', '"x"'],
  ['a: {{0}}\nb: 1\nc: {{1}}\n', '"x', 'y"'],
  ['- {{0}}\n- b\n- c{{1}}\n', '"a', '"\n- b\n- c'],
  ["a: '{{0}}'\n", "x' # "],
  ["a: '{{0}}'\n", "x'\nb: 'y"],
  ['a: "{{0}}"\n', '\\'],
  ['a: "{{0}}n"\n', 'x\\'],
  ['a: "{{0}}"\nb: "{{1}}"\n', 'x\\', '\nc: d #'],
  ['a: {{0}}\n', '|'],
  ['a: {{0}}\n  b\n', '>'],
  ['a: |{{0}}\n    b\n', '2'],
  ['a: |\n  {{0}}\n', 'x\nb: 1'],
  ['a: |\n  {{0}}\n  y\n', '  x\n'],
  ['a: |\n  {{0}}\n', 'x\n\u0085b: 1'],
  ['a: {{0}}\n', '&b x'],
  ['a: &b {c: 1}\nd: {{0}}\n', '*b'],
  ['a: &b {c: 1}\nd:\n  {{0}}: *b\n', '<<'],
  ['a: {{0}}\n', '!!binary eA=='],
  ['a: !!{{0}} x\n', 'str'],
  ['a: &{{0}} x\n', 'b'],
  ['{{0}}: 1\n', 'a: b'],
  ['{{0}}: 1\n', '? b'],
  ['{{0}}\na: 1\n', '---'],
  ['a: 1\n{{0}}\n', '...'],
  ['{{0}}\na: 1\n', '%YAML 1.1\n---'],
  ['{{0}}a: 1\n', '\ufeff'],
  ['a: 1\n{{0}}b: 2\n', '  '],
  ['a:\n  b: 1\n{{0}}c: 2\n', '  '],
  ['a: {{0}}\n', 'x\u0085b: 1'],
  ['a: {{0}}\n', 'x\u2028b: 1'],
  ['# {{0}}\na: 1\n', 'x\nb: 1'],
  ['a: {{0}}\n', '@x'],
  ['a: {{0}}\n', '`x'],
  ['a: {{0}}\n', '%x'],
  ["a: '{{0!}}'\n", '"it\'s"'],
  ['a: {{0!}}b\n', '"x"'],
  ['a: {{0!}}\n', '"x"\nb: 1'],
  ['a: {{0!}}\n', '*b'],
  ['a: {{0!}}\n', '[a]: [b]'],
  ['a: 1\n{{0!}}\n', 'b: 2'],
];

test.for(attacks)('loadYaml: %s with %j is refused, not obeyed', ([template, ...values]) => {
  expect(() => load(template, ...values)).toThrow(refused);
});

const harmless: readonly (readonly [unknown, string, ...string[]])[] = [
  [{ a: 'Debian' }, 'a: {{0}}\n', 'Debian'],
  [{ a: 'Debian GNU/Linux 12 (bookworm)' }, 'a: {{0}}\n', 'Debian GNU/Linux 12 (bookworm)'],
  [{ a: 'x' }, 'a: {{0}}\n', ' x \n'],
  [{ a: 12 }, 'a: {{0}}\n', '12'],
  [{ a: true }, 'a: {{0}}\n', 'true'],
  [{ a: null }, 'a: {{0}}\n', '~'],
  [{ a: 'x y' }, 'a: {{0}}\n', 'x\n  y'],
  [{ a: "it's: #1\n" }, 'a: |\n  {{0}}\n', "it's: #1"],
  [{ a: 'x: #y' }, "a: '{{0}}'\n", 'x: #y'],
  [{ a: 'x: "y"\\' }, 'a: "{{0}}"\n', 'x: \\"y\\"\\\\'],
  [{ a: 1 }, 'a: 1 # {{0}}\n', "it's: [x"],
  [{ a: 1 }, 'a: 1\n# {{0}}\n', 'x\n# y'],
  [{ Debian: 1, b: [1] }, '{{0}}: 1\nb: [1]\n', 'Debian'],
  [{ 'x-😀': 1 }, 'x-{{0}}: 1\n', '😀'],
  [{ a: "it's\n" }, 'a: {{0!}}\n', '"it\'s\\n"'],
  [{ a: { b: [1, { c: 'd' }] } }, 'a: {{0!}}\n', '{b: [1, {c: "d"}]}'],
  [{ a: { b: 1, c: ['d'] }, e: 1 }, 'a:\n  {{0!}}\ne: 1\n', 'b: 1\n  c:\n  - d'],
  [{ a: ['b', 'c'], e: 1 }, 'a:\n  {{0!}}\ne: 1\n', '- b\n  - c'],
  [{ a: 'it is "x" # y' }, "a: 'it is {{0!}} # y'\n", '"x"'],
];

test.for(harmless)('loadYaml: returns %j for %s with %j', ([data, template, ...values]) => {
  expect(toPlain(load(template, ...values))).toEqual(data);
});

test('loadYaml: reports which scalars are tainted, and where', () => {
  const { text, ranges } = fill('a/{{0}}: "salt://{{0}}/x"\nb: [c, "\\n{{0}}", x{{0}}]\n', ['os']);
  const heard: [string, Ranges][] = [];
  const data = loadYaml(text, {
    ...(ranges && {
      taint: { ranges, owner: 'web1', onScalar: (value, parts) => heard.push([value, parts]) },
    }),
  }) as Map<string, object>;
  expect(
    heard.map(([value, parts]) => [value, parts.map(({ start, end }) => [start, end])]),
  ).toEqual([
    ['a/os', [[2, 4]]],
    ['salt://os/x', [[7, 9]]],
    ['\nos', [[0, 3]]],
    ['xos', [[1, 3]]],
  ]);
  expect([...(collectionTaint(data)?.keys.keys() ?? [])]).toEqual(['a/os']);
  expect([...(collectionTaint(data.get('b') ?? {})?.values.keys() ?? [])]).toEqual([1, 2]);
});

test('loadYaml: names the host, what it sent and the place', () => {
  expect(() => load('m:\n  - c: {{0}}\n', 'x: y')).toThrow(
    'web1\'s grain "os" would change the structure of x.sls:2:8; quote it with | yaml_dquote',
  );
});
