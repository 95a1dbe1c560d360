import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entriesOfLines, lineOf, namedLines } from '../../../src/protocol/manifest/named-lines.ts';

const name = fc.string().filter(text => !/[:\n]/.test(text));
const value = fc.string().filter(text => !text.includes('\n'));

test('each name has its value, the last one of several', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), entries => {
      const text = namedLines(entries);
      const wanted = new Map(entries);
      for (const key of wanted.keys()) expect(lineOf(text, key)).toBe(wanted.get(key));
      expect(entriesOfLines(text)).toEqual([...wanted]);
    }),
  );
});

test('no other text is a name: a part of one, a value, or several lines', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.string(), (entries, other) => {
      fc.pre(!new Map(entries).has(other) && !other.includes(':'));
      expect(lineOf(namedLines(entries), other)).toBeUndefined();
    }),
  );
  const text = namedLines([
    ['exec pkg', '0,1'],
    ['state pkg', '2'],
  ]);
  for (const other of ['pkg', 'exec', '0,1', 'exec pkg:0,1\nstate pkg'])
    expect(lineOf(text, other)).toBeUndefined();
});
