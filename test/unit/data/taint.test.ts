import { expect, test } from 'vitest';
import { choosesOnlyNames, cutRanges, rangesOf, uniteRanges } from '../../../src/data/taint.ts';

/** `salt://a/<b>/c`: what stands between the marks is tainted. */
const marked = (text: string) => {
  const list = [];
  let plain = '';
  for (const part of text.split(/(?=<)|(?<=>)/)) {
    const start = plain.length;
    const isTainted = part.startsWith('<');
    plain += isTainted ? part.slice(1, -1) : part;
    if (isTainted) list.push({ start, end: plain.length, source: 'grain "os"' });
  }
  const ranges = rangesOf(list);
  if (!ranges) throw new Error('nothing is marked');
  return { plain, ranges };
};

test.for([
  'salt://motd/files/<Debian>/motd',
  'salt://motd/<Debian>-<12>.conf',
  'states/<web>.yaml',
])('choosesOnlyNames: %s names a file in a folder that clean text chose', text => {
  const { plain, ranges } = marked(text);
  expect(choosesOnlyNames(plain, ranges)).toBe(true);
});

test.for([
  'salt://<..>/certs/web1.key',
  'salt://motd/.<.>/certs',
  'salt://motd/<a/b>',
  'salt://<>motd<?saltenv=prod>',
  'salt://motd?saltenv=<prod>',
  'salt://motd/<.>',
  '<salt://motd>',
  'sal<t:/>/motd',
  'salt://<motd>',
  '<certs>',
  'motd/<a\\b>',
  'motd/<a\u0000b>',
])('choosesOnlyNames: %s would let the host choose more than a name', text => {
  const { plain, ranges } = marked(text.replace('<>', ''));
  expect(choosesOnlyNames(plain, ranges)).toBe(false);
});

test('cutRanges: a serialized value that is cut through is a raw text', () => {
  const [range] = cutRanges([{ start: 2, end: 8, source: 's', isNode: true }], 3, 20);
  expect(range).toMatchObject({ start: 0, end: 5, isNode: false });
});

test('uniteRanges: of two notes on one part the raw one wins', () => {
  const node = rangesOf([{ start: 0, end: 4, source: 's', isNode: true }]);
  const raw = rangesOf([{ start: 0, end: 4, source: 's' }]);
  if (!node || !raw) throw new Error('no ranges');
  expect(uniteRanges(node, raw)).toMatchObject([{ start: 0, end: 4, isNode: false }]);
});
