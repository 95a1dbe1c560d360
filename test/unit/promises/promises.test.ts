import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readPromises, sameTitle, titlePattern } from '../../promises/document.ts';
import { testsOf } from '../../promises/live-tests.ts';
import { type Report, unshown } from '../../promises/results.ts';
import { filesThatRun } from '../../promises/test-files.ts';

const promises = readPromises(readFileSync('docs/security.md', 'utf8'));

test('docs/security.md holds promises', () => {
  expect(promises.length).toBeGreaterThan(100);
});

// Where a condition keeps such a test from running on this machine, `.ci/run` still needs it to pass.
const named = promises.flatMap(({ text, tests }) => tests.map(each => ({ text, ...each })));
const tests = new Map<string, ReturnType<typeof testsOf>>();
const fileTests = (file: string) => {
  const known = tests.get(file) ?? testsOf(file, filesThatRun(file));
  tests.set(file, known);
  return known;
};
test.each(named)('$text: $file runs the test "$title"', ({ file, title }) => {
  const { live, dead } = fileTests(file);
  const cause =
    dead.find(each => sameTitle(each.title, title))?.cause ?? 'there is none of this title';
  expect(live.some(each => sameTitle(each.title, title)) ? 'live' : cause).toBe('live');
});

test('no promise is left untested by choice: conditions ask the machine only', () => {
  const conditions = named.flatMap(({ file, title }) =>
    fileTests(file)
      .live.filter(each => sameTitle(each.title, title))
      .flatMap(each => each.conditions),
  );
  expect(conditions.filter(each => /process\.(env|argv)|\((true|false|\d+)\)/.test(each))).toEqual(
    [],
  );
});

describe('tests that show nothing are found', () => {
  const causeOf = (text: string): string | undefined => {
    const { live, dead } = testsOf('test/x.test.ts', [], text);
    return live.length > 0 ? 'live' : dead[0]?.cause;
  };

  test.each([
    ["// test('a', () => {})", undefined],
    ['const s = "test(\'a\', () => {})"; s', undefined],
    ["test.skip('a', () => {})", 'it is marked skip'],
    ["test.todo('a')", 'it is marked todo'],
    ["test.fails('a', () => {})", 'it is marked fails'],
    ["test.each([])('a', () => {})", 'its list of cases is empty'],
    ["test.skipIf(true)('a', () => {})", 'it is marked skipIf(true)'],
    ["const real = test.skip; real('a', () => {})", 'it is marked skip'],
    ["describe.skip('g', () => { test('a', () => {}) })", 'of its group it is marked skip'],
    ["if (false) test('a', () => {})", 'it stands behind if (false)'],
    ["const never = () => { test('a', () => {}) }", 'no test file calls never'],
    [
      "test('b' + 'c', () => { later(() => { test('a', () => {}) }) })",
      'it stands in an argument of later',
    ],
  ])('%s', (text, cause) => {
    expect(causeOf(text)).toBe(cause);
  });

  test.each([
    "test('a', () => {})",
    "test.each([1, 2])('a %s', () => {})",
    "describe.skipIf(missing)('g', () => { test('a', () => {}) })",
    "const cases = () => { test('a', () => {}) }; cases()",
    'for (const one of [1]) test(`a ${one}`, () => {})',
    "const real = test.skipIf(!has); real('a', () => {})",
  ])('%s is live', text => {
    expect(causeOf(text)).toBe('live');
  });

  test('a file of shared tests counts only with a test file that calls it', () => {
    const shared = 'test/contract/transport.ts';
    expect(filesThatRun(shared)).toEqual([
      'test/host/transport/contract.test.ts',
      'test/lab/transport.test.ts',
    ]);
    expect(testsOf(shared, filesThatRun(shared)).live.length).toBeGreaterThan(20);
    expect(testsOf(shared, ['test/unit/architecture.test.ts']).live).toEqual([]);
  });
});

describe('a report is compared with the promises', () => {
  const text = '- It holds: `test/a.test.ts` "refuses %s (%j)", "is $name"; `test/b.test.ts` "b"\n';
  const report = (...status: string[]): Report => ({
    testResults: [
      {
        name: '/p/test/a.test.ts',
        assertionResults: [
          { title: 'refuses x ("y")', status: 'passed' },
          { title: 'refuses z ({})', status: status[0] ?? 'passed' },
          { title: 'is this', status: 'passed' },
        ],
      },
      {
        name: '/p/test/b.test.ts',
        assertionResults: status[1] === 'none' ? [] : [{ title: 'b', status: 'passed' }],
      },
    ],
  });

  test('all passed', () => {
    expect(readPromises(text)).toHaveLength(1);
    expect(unshown(readPromises(text), report(), '/p')).toEqual([]);
  });

  test.each([
    [report('failed'), 'test/a.test.ts "refuses %s (%j)" failed (1 of 2)'],
    [report('skipped'), 'test/a.test.ts "refuses %s (%j)" skipped (1 of 2)'],
    [report('passed', 'none'), 'test/b.test.ts "b" did not run'],
  ])('case %#', (given, fault) => {
    expect(unshown(readPromises(text), given, '/p')).toEqual([`docs/security.md:1: ${fault}`]);
  });

  test('a title matches whole titles only', () => {
    expect(titlePattern('a %s b').test('a x b')).toBe(true);
    expect(titlePattern('a %s b').test('a x b, not quite')).toBe(false);
    expect(titlePattern('a.b').test('axb')).toBe(false);
    expect(sameTitle('a (%s inputs)', 'a (${…} inputs)')).toBe(true);
    expect(sameTitle('a', 'a (${…} inputs)')).toBe(false);
  });
});
