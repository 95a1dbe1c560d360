import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { linearMatches } from '../../../src/render/filters/linear-regex.ts';
import {
  boundedMatches,
  boundedTest,
  filterRegex,
  matchesYielding,
} from '../../../src/render/filters/python-regex.ts';
import { longestTurn } from '../../helpers/cpu-time.ts';
import { seeded } from '../../helpers/random.ts';

const flags = { global: true };

test('an ambiguous expression on a text of any length has its answer in linear time', async () => {
  for (const [pattern, text, expected] of [
    ['(a+)+$', `${'a'.repeat(20_000)}b`, 0],
    ['(a|aa)+$', `${'a'.repeat(20_000)}b`, 0],
    ['a*a*a*a*a*a*a*c', 'a'.repeat(20_000), 0],
    ['a*b', 'a'.repeat(300_000), 0],
    ['(?P<all>(a+)+)b', `${'a'.repeat(20_000)}b`, 1],
    ['^(\\w+\\s?)*$', `${'ab '.repeat(5_000)}!`, 0],
  ] as const) {
    const begin = performance.now();
    const found = await matchesYielding(filterRegex(pattern, flags), text);
    expect(found).toHaveLength(expected);
    await setImmediate();
    expect(boundedTest(filterRegex(pattern, {}), text)).toBe(expected > 0);
    expect(performance.now() - begin).toBeLessThan(2000);
  }
  const long = filterRegex('(?P<all>(a+)+)b', flags);
  const [match] = (await matchesYielding(long, `x${'a'.repeat(20_000)}b`)) ?? [];
  expect(match?.index).toBe(1);
  expect(match?.groups?.all).toHaveLength(20_000);
});

test('sixty expressions that no automaton can match are refused within seconds, all together', () => {
  const text = `${'a'.repeat(40)}b`;
  const begin = performance.now();
  for (let count = 0; count < 60; count += 1)
    expect(boundedMatches(filterRegex(`(a+)+(?=c{${count}}$)$`, flags), text)).toBeUndefined();
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(boundedTest(filterRegex('(a+)+b', {}), text)).toBe(true);
});

test.each([
  ['at once', 'boundedMatches'],
  ['in turns', 'matchesYielding'],
] as const)(
  'an expression that takes for ever blocks the event loop for no more than 100 ms: %s',
  { tags: 'slow' },
  async (_, name) => {
    const long = 'a'.repeat(2_000_000);
    const measure = async (): Promise<number> => {
      // Earlier failed searches shorten the limits.
      vi.resetModules();
      const { [name]: matches } = await import('../../../src/render/filters/python-regex.ts');
      return longestTurn(() => search(matches));
    };
    const search = async (matches: typeof matchesYielding): Promise<void> => {
      for (const [pattern, text] of [
        ['(a+)+(?=c)$', `${'a'.repeat(40)}b`],
        ['(a|aa)+(?!c)c$', `${'a'.repeat(60)}b`],
        ['(a+)+$', `${long}b`],
        ['(\\w+)*=(\\w+)*;', long],
      ] as const) {
        await setImmediate();
        const regex = filterRegex(pattern, flags);
        // One after the other, as in one line of a template.
        await Promise.all([matches(regex, text), matches(regex, `${text}x`)]);
      }
    };
    // Other processes on the same core make a turn longer: the best of three counts.
    const turns = [await measure(), await measure(), await measure()];
    expect(Math.min(...turns)).toBeLessThan(120);
  },
);

test('the automaton finds what backtracking finds', { tags: 'slow' }, () => {
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
    const regex = filterRegex(pattern, given);
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
