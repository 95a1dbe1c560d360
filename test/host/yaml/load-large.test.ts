import { expect, test } from 'vitest';
import { type Ranges, rangesOf } from '../../../src/data/taint.ts';
import { keyPosition } from '../../../src/data/values/position.ts';
import type { Data } from '../../../src/data/values/value.ts';
import { compose } from '../../../src/yaml/compose.ts';
import { Constructor } from '../../../src/yaml/construct.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { isLarge, loadPieces } from '../../../src/yaml/load-large.ts';
import { sourceOf } from '../../../src/yaml/source-of.ts';
import { seeded } from '../../helpers/random.ts';
import { inPieces } from '../../yaml/in-pieces.ts';
import answers from '../../yaml/salt-yaml.json' with { type: 'json' };

const whole = (text: string): { data?: Data } => {
  const source = sourceOf(text, {});
  try {
    const root = compose(source);
    return { data: root ? new Constructor(source).construct(root) : null };
  } catch {
    return {};
  }
};

/** The positions of all keys and items, in order. */
const positionsOf = (data: Data): unknown[] => {
  if (typeof data !== 'object' || data === null) return [];
  const entries = Array.isArray(data) ? data.entries() : data instanceof Map ? data : [];
  return [...entries].flatMap(([key, item]) => [keyPosition(data, key), ...positionsOf(item)]);
};

const isTheSame = (text: string, size: number): boolean => {
  const data = inPieces(text, size);
  if (data === undefined) return false;
  const expected = whole(text);
  expect({ text, data }).toEqual({ text, ...expected });
  expect(positionsOf(data)).toEqual(positionsOf(expected.data ?? null));
  return true;
};

test('pieces have the data and positions of the whole text, in texts of all kinds', {
  tags: 'slow',
}, () => {
  const texts = answers.map(([text]) => String(text));
  let cut = 0;
  for (const text of texts)
    for (const size of [1, 30]) {
      const long = `before: 1\n${text}`;
      for (const one of [text, long, text.replace(/^/gm, '  '), `a:\n${text}`, `${text}\nz: 1\n`])
        if (isTheSame(one, size)) cut += 1;
    }
  expect(cut).toBeGreaterThan(400);
});

const parts = [
  'key: value\n',
  '"quoted": "two\n\n  lines"\n',
  'open: "not\nindented: by the rules"\n',
  'list:\n- one\n- two: 2\n  three: [1,\n    2]\n',
  'deep:\n  first:\n    second: 1\n    third: |+\n      text\n\n    fourth: &a {x: 1}\n  fifth: 5\n',
  '1: int\n',
  'yes: bool\n',
  '# comment\n\n',
  'flow: {a: 1,\nb: 2}\n',
  'anchor: &b\n  inner: 1\n',
  'alias: *b\n',
  'merge:\n  <<: *b\n',
  '<<: {root: merge}\n',
  'folded: >-\n  one\n\n  two\n',
  '? complex\n: value\n',
  'tagged: !!str 1\n',
  '---\n',
  '...\n',
  'plain: one\n  two\n',
  'same: 1\n',
  'same: 2\n',
  'crlf: 1\r\nother: 2\r\n',
];

test('pieces of random texts have the data and positions of the whole text', () => {
  const pick = seeded(7);
  let cut = 0;
  for (let round = 0; round < 1500; round += 1) {
    const count = 1 + Math.floor(pick() * 6);
    const text = Array.from({ length: count }, (_, index) =>
      (parts[Math.floor(pick() * parts.length)] ?? '').replace(
        /^(key|1|"quoted"|list|deep|open|flow)/,
        name => (name.startsWith('"') ? name : `${name}${index}`),
      ),
    ).join('');
    if (isTheSame(text, 1 + Math.floor(pick() * 40))) cut += 1;
  }
  expect(cut).toBeGreaterThan(300);
});

test('a long entry that cannot be cut is read in steps', () => {
  const values = Array.from({ length: 20_000 }, (_, index) => `v: ${index}`);
  const text = `a: ["${values.join('", "')}"]\n`;
  let start = 5;
  const ranges = values.map(value => {
    const range = { start, end: start + value.length, source: 'grain "a"' };
    start = range.end + 4;
    return range;
  });
  const steps = loadPieces(
    sourceOf(text, { taint: { ranges: rangesOf(ranges) as Ranges, owner: 'web1' } }),
  );
  let count = 0;
  while (!steps.next().done) count += 1;
  expect(count).toBeGreaterThan(20);
});

test('a large text with an error reports it as a small text does', () => {
  const lines = 'some_key: some value of it, and more of it\n';
  const many = Array.from({ length: 25_000 }, (_, at) => `${at}_${lines}`).join('');
  expect(isLarge(sourceOf(many, {}))).toBe(true);
  const data = loadYaml(`${many}last: 1\n`) as Map<string, Data>;
  expect([data.size, data.get('last')]).toEqual([25_001, 1]);
  expect(keyPosition(data, 'last')).toEqual({ line: 25_001, column: 1 });
  expect(() => loadYaml(`${many}a: 1\nlast: 1\na: 2\n`, { file: 'big.sls' })).toThrow(
    "found conflicting ID 'a': it is on line 25001 and again on line 25003",
  );
});
