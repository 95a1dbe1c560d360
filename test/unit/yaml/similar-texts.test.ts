import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packTree, readTree } from '../../../src/yaml/packed-tree.ts';
import { parse } from '../../../src/yaml/parse.ts';
import { moveTree, SimilarTexts } from '../../../src/yaml/similar-texts.ts';
import { wordEdits } from '../../../src/yaml/word-edits.ts';
import { YamlSource } from '../../../src/yaml/yaml-error.ts';
import { described } from '../../helpers/described-data.ts';

type Packed = Int32Array<ArrayBuffer>;

const sourceOf = (text: string): YamlSource => new YamlSource(text, { ordered: true });

const parsed = (text: string): Packed | undefined => {
  const source = sourceOf(text);
  return packTree(source, text, parse(source));
};

/** The tree of a text, moved from that of another text. */
const moved = (known: string, text: string): Packed | undefined => {
  const packed = parsed(known);
  const edits = wordEdits(known, text);
  return packed && edits && moveTree({ text: known, packed }, text, edits);
};

const read = (text: string, packed: Packed | undefined): unknown => {
  const tree = packed && readTree(sourceOf(text), text, packed, 0);
  return tree && described(tree.data);
};

const fresh = (text: string): unknown => {
  try {
    return read(text, parsed(text));
  } catch {
    return undefined;
  }
};

describe('a tree is moved to a text with other words', () => {
  test.each([
    [
      'a host name',
      'web1:\n  file.managed:\n    - name: /srv/web1/a\n    - user: root\n',
      'web1',
      'db-01.x.org',
    ],
    ['a key and equal values', '{a: b, c: b, "d": "b"}\n', 'b', 'longer'],
    ['a word of a text', 'a: the host web1 is here\nb: \'web1 too\'\nc: "web1\\n"\n', 'web1', 'w'],
    [
      'a word of a block',
      'a: |\n  one web1\n    web1\nb: >-\n  web1\n\n  two\nc: d\n',
      'web1',
      'db',
    ],
    ['a word of several lines', 'a: one\n  web1\n  two\nb: "one\n  web1"\n', 'web1', 'other'],
    ['a comment', '# web1\na: b # of web1\n#web1\nc: d\n', 'web1', 'other'],
    ['a word beside other letters', 'a: éweb1é\n😀: [web1]\n', 'web1', 'db'],
    ['a word that becomes another type', 'a: web1\nb: web1\n', 'web1', 'no'],
    ['a number', 'a: 1\nb: x1\n', '1', '0x20'],
    ['an option', 'a: [--web1, -web1]\nb: -web1\n', 'web1', 'db'],
    ['the end of the text', 'a:\n- web1', 'web1', 'db12'],
    ['a word after empty values', 'a:\nb:\n  # web1\nweb1:\n-\n- web1\n', 'web1', 'db'],
  ])('%s', (_, known, word, other) => {
    const text = known.replaceAll(word, other);
    const packed = moved(known, text);

    expect(packed).toBeDefined();
    expect(read(text, packed)).toEqual(fresh(text));
    expect(read(text, packed)).toBeDefined();
  });

  test('a text without a difference has the same tree', () => {
    const text = 'a: [b, c]\n';
    expect(moved(text, text)).toEqual(parsed(text));
  });
});

test.each([
  ['another line', 'a: b\n', 'a: b\nc: d\n'],
  ['fewer lines', 'a: b\nc: d\n', 'a: b\n'],
  ['an indicator', 'a: b\n', 'a: [b]\n'],
  ['a colon', 'a: b c\n', 'a: b: c\n'],
  ['a comment that begins', 'a: b#c\n', 'a: b #c\n'],
  ['an indentation', 'a:\n  b: c\nd:\n', 'a:\n    b: c\nd:\n'],
  ['no word', 'a: b\n', 'a: \n'],
  ['a list item', 'a: -b\n', 'a: - b\n'],
  ['an escape', 'a: "\\x41"\n', 'a: "\\x42"\n'],
  ['the width of a block', 'a: |2\n    b\n', 'a: |4\n    b\n'],
  ['the end of a document', '--- a\n', '... a\n'],
  ['a word that is very long', 'a: b\n', `a: ${'b'.repeat(300)}\n`],
  ['one of two equal values', 'a: [b, b]\n', 'a: [b, c]\n'],
  ['one of two equal values in different quotes', `a: [b, "c", 'c']\n`, `a: [b, "c", 'd']\n`],
])('a text that differs in %s is parsed', (_, known, text) => {
  expect(parsed(known)).toBeDefined();
  expect(moved(known, text)).toBe(undefined);
});

test.each([
  ['are equal', 'a: 1\nb: 2\n', 'a: 1\na: 2\n'],
  ['are equal in Python', '1: a\n1.5: b\n', '1: a\n1.0: b\n'],
])('a text in which two keys %s then has no tree', (_, known, text) => {
  const packed = moved(known, text);

  expect(packed).toBeDefined();
  expect(read(text, packed)).toBe(undefined);
});

const parts = fc.constantFrom(
  ...['a: ', '- ', '\n', '  ', '[', ']', '{', '}', ', ', '"', "'", '|\n', '>-\n', '&a ', '*a'],
  ...[
    '!!str ',
    '---\n',
    '? ',
    ': ',
    '#',
    'word',
    '1',
    '.5',
    '\t',
    'é',
    '~',
    '\\',
    'no',
    '/',
    '-',
    '.',
  ],
  ...['\r\n', '=', ' #', 'word', 'word', 'two', 'a:\n', '|2\n', '%', '@', ':'],
);
const newWords = fc.constantFrom(
  'word',
  'w',
  'other',
  'no',
  '1',
  '/srv/x',
  'a.b-c',
  '0x1',
  'n0',
  '_',
);

test('what is moved to a text of any words is what parsing it returns', () => {
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 30 }),
      fc.array(newWords, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (list, words, isEach) => {
        const known = list.join('');
        let at = 0;
        const text = known.replace(/word|two|1|no/g, word => {
          at += 1;
          const chosen = words[(isEach ? at : word.length) % words.length] ?? word;
          return chosen;
        });
        let packed: Packed | undefined;
        try {
          packed = moved(known, text);
        } catch {
          return;
        }
        if (!packed || text === known) return;
        const result = read(text, packed);
        // Errors are those of parsing.
        if (result === undefined) return;
        compared += 1;
        expect(result).toEqual(fresh(text));
      },
    ),
    { numRuns: 5000 },
  );
  expect(compared).toBeGreaterThan(100);
});

describe('SimilarTexts', () => {
  const keep = (texts: SimilarTexts, file: string, text: string): void =>
    texts.keep(file, text, parsed(text) as Packed);

  test('finds one of the last four structures of a file', () => {
    const texts = new SimilarTexts();
    for (let count = 1; count <= 5; count += 1)
      keep(texts, 'a.sls', 'a:\n'.concat('- b\n'.repeat(count)));
    const isFound = (count: number, file = 'a.sls'): boolean =>
      texts.find(file, 'x:\n'.concat('- y\n'.repeat(count))) !== undefined;

    expect([1, 2, 3, 4, 5].map(count => isFound(count))).toEqual([false, true, true, true, true]);
    expect(isFound(5, 'b.sls')).toBe(false);
  });

  test('keeps a million characters at most, and no text that is very long', () => {
    const texts = new SimilarTexts();
    const text = (file: number): string => `a: ${'b'.repeat(200_000)}${file}\n`;
    for (let file = 0; file < 6; file += 1) keep(texts, `${file}.sls`, text(file));
    keep(texts, 'long.sls', `a: ${'b'.repeat(260_000)}\n`);

    expect(texts.find('0.sls', text(0))).toBe(undefined);
    expect(texts.find('5.sls', text(5))).toBeDefined();
    expect(texts.find('long.sls', `a: ${'b'.repeat(260_000)}\n`)).toBe(undefined);
  });
});
