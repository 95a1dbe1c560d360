import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Data } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { packTree, readTree } from '../../../src/yaml/packed-tree.ts';
import { parse } from '../../../src/yaml/parse.ts';
import { YamlSource } from '../../../src/yaml/yaml-error.ts';
import { described } from '../../helpers/described-data.ts';

const sourceOf = (text: string): YamlSource => new YamlSource(text, { ordered: true });

const packed = (text: string): Int32Array<ArrayBuffer> | undefined => {
  const source = sourceOf(text);
  return packTree(source, text, parse(source));
};

const treeOf = (text: string, numbers = packed(text)): Data | undefined =>
  numbers && readTree(sourceOf(text), text, numbers, 0)?.data;

/** As nodes: a custom tag, also one that does not occur, needs them. */
const composed = (text: string): Data =>
  loadYaml(text, { ordered: true, tags: new Map([['!never', data => data]]) });

test.each([
  'a: 1\n',
  '# a comment\n---\n- a\n- [b, {c: d, e}]\n- \n-\n  f:\n',
  'a: 0644\nb: 0x1f\nc: 1.0\nd: 1:30\ne: 9007199254740993\nf: ~\ng: yes\nh: 2020-01-01\n',
  'a: |\n  one\n  two\nb: >+2\n    three\n\nc: "d\\n"\ne: \'f\'\ng: "h"\n',
  'a: one\n  two\nb: "one\n  two"\nc: |\n  no line end at the end of the text',
  '2: a\n1.5: b\ntrue: c\nnull: d\n',
  'a: b\nb: a\nc: "a"\nd: "1"\ne: 1\nf: 1\n',
  'é: 😀\n😀: [é, é]\n',
])('the data and positions of %j are those of its nodes', text => {
  expect(described(treeOf(text))).toEqual(described(composed(text)));
});

test.each([
  ['an anchor', 'a: &b 1\n'],
  ['an alias', 'a: &b 1\nc: *b\n'],
  ['a tag', 'a: !!str 1\n'],
  ['the tag !', 'a: ! 1\n'],
  ['a merge key', '<<: {a: 1}\n'],
  ['the key =', '=: 1\n'],
  ['a list as a key', '? [a]\n: b\n'],
  ['two documents', 'a: 1\n---\nb: 2\n'],
  ['no document', '# nothing\n'],
  ['quotes that go on without indentation', 'a: "b\nc"\n'],
  ['an escape that is no character', 'a: "\\U00110000"\n'],
])('a text with %s has no tree', (_, text) => {
  expect(packed(text)).toBe(undefined);
});

test.each([
  ['equal keys', 'a: 1\nb: 2\na: 3\n'],
  ['keys that are equal in Python', '1: a\n1.0: b\n'],
  ['a number that is too long', `a: 1${':1'.repeat(600)}\n`],
])('the error of a text with %s is left to those who report it', (_, text) => {
  expect(treeOf(text)).toBe(undefined);
});

const words = fc.constantFrom(
  ...['a: ', '- ', '\n', '  ', '[', ']', '{', '}', ', ', '"', "'", '|\n', '>-\n', '&a ', '*a'],
  ...['!!str ', '---\n', '? ', ': ', '#', 'word', '1', '0', '.5', '\t', 'é', '😀', 'no', '~', '\\'],
  ...['\r\n', '<<', '='],
);

test('the data and positions of any text with a tree are those of its nodes', () => {
  let compared = 0;
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), parts => {
      const text = parts.join('');
      let nodes: Data;
      try {
        nodes = composed(text);
      } catch {
        let numbers: Int32Array<ArrayBuffer> | undefined;
        try {
          numbers = packed(text);
        } catch {
          return;
        }
        expect(treeOf(text, numbers)).toBe(undefined);
        return;
      }
      const numbers = packed(text);
      if (!numbers) return;
      compared += 1;
      expect(described(treeOf(text, numbers))).toEqual(described(nodes));
    }),
    { numRuns: 5000 },
  );
  expect(compared).toBeGreaterThan(200);
});

test('numbers that were not written whole, or lead out of the text, are refused', () => {
  const text = 'a: {b: [c, "d\\n"], e: f, g: c}\nh: \'i\'\n';
  const numbers = packed(text) as Int32Array<ArrayBuffer>;

  expect(treeOf(text, numbers)).toBeDefined();
  for (let end = 0; end < numbers.length; end += 1)
    expect(treeOf(text, numbers.slice(0, end)), `${end} numbers`).toBe(undefined);
  expect(treeOf(text, new Int32Array(numbers.length))).toBe(undefined);
  for (let at = 0; at < numbers.length; at += 1)
    for (const damage of [-1, 7, text.length + 1, 2 ** 31 - 1]) {
      // Whatever it is, it ends, and without an error.
      const data = treeOf(text, numbers.with(at, damage));
      if (at < 28 && at % 4 === 1 && damage !== 7) expect(data, `${at} ${damage}`).toBe(undefined);
    }
});
