import { describe, expect, test } from 'vitest';
import { type Breakage, promiseOf, securityPromises, staleness } from '../../mutation/breakage.ts';
import { outcomeOf, selection } from '../../mutation/outcome.ts';
import { security } from '../../mutation/security.ts';

const promises = securityPromises();

test.each(security)('$file: the guard "$find" is there once, and its test too', breakage => {
  expect(staleness(breakage, promises) ?? 'usable').toBe('usable');
});

test('the breakages are about at least 25 promises, each breakage once', () => {
  expect(new Set(security.map(each => promiseOf(each, promises))).size).toBeGreaterThanOrEqual(25);
  expect(
    new Set(security.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size,
  ).toBe(security.length);
});

describe('a breakage that cannot be used is refused', () => {
  const [first] = security as readonly [Breakage];
  test.each<[Partial<Breakage>, string]>([
    [{ find: 'no such text' }, 'occurs 0 times'],
    [{ find: 'const ' }, /occurs \d+ times/.source],
    [{ replace: 'a\nb' }, 'not a change within one line'],
    [{ replace: first.find }, 'not a change within one line'],
    [{ test: { file: first.test.file, title: 'another' } }, 'docs/security.md names no test'],
    [{ via: 'test/unit/architecture.test.ts' }, 'no single test file runs'],
  ])('%j', (change, why) => {
    expect(staleness({ ...first, ...change }, promises)).toMatch(new RegExp(why));
  });
});

describe('the outcome of a test', () => {
  const outcome = (...cases: { title: string; status: string; failureMessages?: string[] }[]) =>
    outcomeOf(
      { testResults: [{ name: '/copy/test/a.test.ts', assertionResults: cases }] },
      '/copy',
      'test/a.test.ts',
      'refuses %s',
    ).kind;
  const failed = (message: string, title = 'refuses x') => ({
    title,
    status: 'failed',
    failureMessages: [message],
  });
  const passed = { title: 'refuses y', status: 'passed' };

  test.each([
    'AssertionError: expected 1 to be 2',
    'Error: Test timed out in 60000ms.',
    'Error: STACK_TRACE_ERROR',
    'Error: Matcher did not succeed in time.',
  ])('is "failed" by %s', message => {
    expect(outcome(passed, failed(message))).toBe('failed');
  });

  test('is "broke" by any other error', () => {
    expect(outcome(passed, failed('ReferenceError: x is not defined'))).toBe('broke');
  });

  test('is "passed" or "never ran" otherwise', () => {
    expect(outcome(passed, failed('AssertionError: of another test', 'accepts x'))).toBe('passed');
    expect(outcome({ title: 'refuses x', status: 'skipped' })).toBe('never ran');
    expect(outcome()).toBe('never ran');
  });
});

test('tests are selected by their titles, in groups and with placeholders', () => {
  const pattern = new RegExp(selection(['refuses %s (once)', 'b']));

  expect(pattern.test('group refuses a file (once)')).toBe(true);
  expect(pattern.test('b')).toBe(true);
  expect(pattern.test('refuses a file')).toBe(false);
  expect(pattern.test('ab')).toBe(false);
});
