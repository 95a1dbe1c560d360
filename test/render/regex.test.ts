import { expect, test } from 'vitest';
import { linearMatches } from '../../src/render/filters/linear-regex.ts';
import { boundedMatches, boundedTest, pythonRegex } from '../../src/render/filters/python-regex.ts';
import { seeded } from '../helpers/random.ts';

const flags = { global: true };

test('an ambiguous expression on a text of any length has its answer in linear time', () => {
  for (const [pattern, text, expected] of [
    ['(a+)+$', `${'a'.repeat(20_000)}b`, 0],
    ['(a|aa)+$', `${'a'.repeat(20_000)}b`, 0],
    ['a*a*a*a*a*a*a*c', 'a'.repeat(20_000), 0],
    ['a*b', 'a'.repeat(300_000), 0],
    ['(?P<all>(a+)+)b', `${'a'.repeat(20_000)}b`, 1],
    ['^(\\w+\\s?)*$', `${'ab '.repeat(5_000)}!`, 0],
  ] as const) {
    const begin = performance.now();
    const found = boundedMatches(pythonRegex(pattern, flags), text);
    expect(found).toHaveLength(expected);
    expect(boundedTest(pythonRegex(pattern, {}), text)).toBe(expected > 0);
    expect(performance.now() - begin).toBeLessThan(2000);
  }
  const [match] =
    boundedMatches(pythonRegex('(?P<all>(a+)+)b', flags), `x${'a'.repeat(20_000)}b`) ?? [];
  expect(match?.index).toBe(1);
  expect(match?.groups?.all).toHaveLength(20_000);
});

test('sixty expressions that no automaton can match are refused within seconds, all together', () => {
  const text = `${'a'.repeat(40)}b`;
  const begin = performance.now();
  for (let count = 0; count < 60; count += 1)
    expect(boundedMatches(pythonRegex(`(a+)+(?=c{${count}}$)$`, flags), text)).toBeUndefined();
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(boundedTest(pythonRegex('(a+)+b', {}), text)).toBe(true);
});

test('the automaton finds what backtracking finds', () => {
  const next = seeded(7);
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  const atoms = ['a', 'b', '.', '\\d', '\\w', '\\s', '[ab]', '[^a]', '\\b', '^', '$', '\\A', '\\Z'];
  const letters = ['a', 'b', '1', ' ', '\n', 'é', '_', 'A'];
  const many = (count: number, make: () => string): string =>
    Array.from({ length: count }, make).join('');
  let compared = 0;
  for (let count = 0; count < 3000; count += 1) {
    const pattern = many(1 + Math.floor(next() * 4), () => {
      const atom = pick(atoms);
      const isPlace = /^(?:\^|\$|\\[bAZ])$/.test(atom);
      const inner = next() < 0.3 ? `(${atom}|${pick(atoms)})` : atom;
      return isPlace ? inner : inner + pick(['', '', '*', '+', '?', '*?', '{1,2}']);
    });
    const text = many(Math.floor(next() * 8), () => pick(letters));
    const given = { ...flags, ignorecase: next() < 0.3, multiline: next() < 0.3 };
    const regex = pythonRegex(pattern, given);
    const found = linearMatches(regex, text);
    if (!found) continue;
    compared += 1;
    const shown = (list: Iterable<RegExpMatchArray>) =>
      [...list].map(match => [match.index, match[0]]);
    expect([pattern, given, text, shown(found)]).toEqual([
      pattern,
      given,
      text,
      shown(text.matchAll(regex)),
    ]);
  }
  expect(compared).toBeGreaterThan(1500);
});
