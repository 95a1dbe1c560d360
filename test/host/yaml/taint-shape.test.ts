// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Ranges, rangesOf, type TaintRange } from '../../../src/data/taint.ts';
import { type Data, isDict } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import type { YamlLoadOptions } from '../../../src/yaml/yaml-error.ts';
import { inPieces } from '../../yaml/in-pieces.ts';

/** `§` marks the author's own text: no host can send it here, and none may cut it off. */
const templates = [
  'a: {{}}\nb: 1\n',
  'a:\n  - {{}}\n  - x: {{}}\n',
  '{{}}: x\nb: {c: {{}}, d: [{{}}]}\n',
  'a: \'{{}}§\'\nb: "{{}}n§"\nc: x{{}}§\nd: {{}} §\n',
  'a: "{{}}\\u00a7"\n',
  'b: &b {c: 1}\nd: *{{}}\n',
  'a: |\n  {{}}\n  §\nb: >\n    {{}}§\nc: 1\n',
  'a: [{{}} §, {{}}: §]\n{{}}§: {{}} §\n',
  'a: &b {c: 1}\nd: *b\ne:\n  {{}}: *b\n',
  '# {{}}\na: 1 # {{}}\n{{}}b: {{}}{{}}\n',
  '- {{}} {{}}\n- - {{}}\n-{{}}\n',
];

/** Pieces of YAML, and any characters between them. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['\n', ' ', '  ', ': ', ' #', '- ', '"', "'", '|', '>', '[', ']', '{', '}', ','],
        ...['&b ', '*b', '!!str ', '<<', '---', '...', '%YAML 1.1', '? ', '\\', '\t', '\ufeff'],
        ...['\u0085', '\u2028', '\r', 'a', 'b', 'b: 1', '~', '1', '=', '@', '`'],
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 6 },
  )
  .map(parts => parts.join(''));

const fill = (template: string, values: readonly string[]) => {
  const list: TaintRange[] = [];
  let text = '';
  for (const [index, part] of template.split('{{}}').entries()) {
    if (index > 0) {
      const value = values[(index - 1) % values.length] ?? '';
      if (value !== '')
        list.push({ start: text.length, end: text.length + value.length, source: 'grain "os"' });
      text += value;
    }
    text += part;
  }
  return { text, ranges: rangesOf(list) };
};

/** Collections with their keys; of scalars, how much of the author's text they hold. */
const shapeOf = (data: Data): unknown => {
  if (Array.isArray(data)) return data.map(shapeOf);
  if (isDict(data)) return [...data].map(pair => pair.map(shapeOf));
  return String(data).split('§').length - 1;
};

const load = (template: string, values: readonly string[]): Data | undefined => {
  const { text, ranges } = fill(template, values);
  try {
    return loadYaml(text, ranges ? { taint: { ranges, owner: 'web1' } } : {});
  } catch {
    return undefined;
  }
};

/** Places where a mere word means something to YAML. */
const wordTemplates = [
  ...templates,
  'a: |{{}}\n  §\n   §\nb: 1\n',
  'a: >-{{}}\n    §\n    §\n',
  'a: |1{{}}\n  §\nb: 1\n',
  'a: &{{}} §\nb: *b\n',
  'a: &x{{}} §\nb: *xb\n',
  'a: !!{{}} 1\n',
  'a: !!s{{}} [§]\n',
  '%{{}} 1.1\n---\na: §\n',
  '%YAML 1.{{}}\n---\na: §\n',
  'a: "\\{{}}§"\n',
  'a: "\\x{{}}§"\n',
  'a: "\\u00{{}}a7"\n',
  '{{}}\n',
  '--- {{}}\n',
  '? {{}}\n: {{}}§\n',
];

const words = fc.constantFrom(
  ...['1', '2', 'n', 'b', 'str', 'seq', 'map', 'YAML', 'TAG', 'x41', 'u0041', '4a', 'tr', '1 b'],
  ...['Debian GNU', 'a-b', 'x86_64', '10.0.0.1', 'true', 'e', 'N', '0', 'a.b-c d_e'],
);

/** The effect of any letters in these places on the rest of the text. */
const checkShapes = (from: readonly string[], values: fc.Arbitrary<string[]>): number => {
  let loaded = 0;
  fc.assert(
    fc.property(fc.constantFrom(...from), values, (template, given) => {
      if (given.includes('')) return;
      const data = load(template, given);
      if (data === undefined) return;
      loaded += 1;
      const harmless = load(
        template,
        given.map((value, index) => `x${index}${'x'.repeat(value.length)}`),
      );
      // A key that the host chose may be one that is there: then YAML refuses it as a duplicate.
      expect(shapeOf(data)).toEqual(shapeOf(harmless ?? null));
    }),
    { numRuns: 8000, seed: 7 },
  );
  return loaded;
};

test('any string: the data has the shape of a harmless one, or is refused', () => {
  const values = fc.array(hostile, { minLength: 1, maxLength: 3 });
  expect(checkShapes(templates, values)).toBeGreaterThan(100);
});

test('any words: the data has the shape of a harmless one, or is refused', () => {
  const values = fc.array(words, { minLength: 1, maxLength: 2 });
  expect(checkShapes(wordTemplates, values)).toBeGreaterThan(2000);
});

/** The data of a text, and its tainted scalars; undefined if it is refused. */
const read = (
  text: string,
  ranges: Ranges | undefined,
  load: (text: string, options: YamlLoadOptions) => Data | undefined,
) => {
  const scalars = new Set<string>();
  const onScalar = (value: string, found: Ranges): void =>
    void scalars.add(JSON.stringify([value, found]));
  try {
    const data = load(text, ranges ? { taint: { ranges, owner: 'web1', onScalar } } : {});
    return data === undefined ? undefined : { data, scalars };
  } catch {
    return undefined;
  }
};

/** Texts of several entries, which are cut in many places. */
const cuttable = [
  ...wordTemplates,
  'a: {{}}\nb:\n  c: 1\n  d: {{}}\n  e: {f: {{}}}\ng: [{{}}]\n',
  '- a: {{}}\n  b: 2\n- {{}}\n-\n  - c: {{}}\n  - d\n',
  'a:\n  b:\n    - c: "{{}}"\n    - d: 1\n  {{}}: 2\nz: 3\n',
  '{{}}\na: 1\nb: 2\n',
  '# {{}}\na: 1\n  # {{}}\nb:\n  # {{}}\n  c: 1\n  d: 2\n',
  'a:{{}}\n  b: 1\n  c: 2\n{{}}  d: 3\ne: 4\n',
  'a: 1{{}}b: 2\nc: 3\n',
  'a:\n  b: 1{{}}c: 2\nd:\n- e{{}}- f\n',
];

/** What ends a line or indents the next one, and words. */
const blanks = fc.constantFrom('\n', '\n  ', '  ', ' ', 'x', 'x\n', '\nx');

test.each([
  ['strings', hostile],
  ['words', words],
  ['blanks', blanks],
])('any %s, read in pieces: the data and taint of the whole text, or none', (_, part) => {
  let loaded = 0;
  let tainted = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...cuttable),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(1, 8, 20),
      (template, values, size) => {
        const { text, ranges } = fill(template, values);
        const pieces = read(text, ranges, (given, options) => inPieces(given, size, options));
        if (!pieces) return;
        loaded += 1;
        tainted += pieces.scalars.size;
        expect(pieces).toEqual(read(text, ranges, loadYaml));
      },
    ),
    { numRuns: 10_000, seed: 7 },
  );
  expect(loaded).toBeGreaterThan(500);
  expect(tainted).toBeGreaterThan(100);
});
