import { describe, expect, test } from 'vitest';
import {
  countTests,
  filesToRepeat,
  type RunReport,
  settle,
  untaggedSlow,
  withUncaught,
} from '../../../scripts/unsteady.ts';

type Given = Record<string, Record<string, string> | string>;

/** A report of files with the status of each of their tests, or with the fault of the file. */
const report = (files: Given): RunReport => ({
  testResults: Object.entries(files).map(([name, tests]) =>
    typeof tests === 'string'
      ? { name, status: 'failed', message: tests, assertionResults: [] }
      : {
          name,
          status: Object.values(tests).includes('failed') ? 'failed' : 'passed',
          assertionResults: Object.entries(tests).map(([title, status]) => ({
            fullName: title,
            status,
            ...(status === 'failed' ? { failureMessages: [`${title} was wrong\n  at x`] } : {}),
          })),
        },
  ),
});

const whole = report({
  'a.test.ts': { one: 'passed', two: 'failed' },
  'b.test.ts': { three: 'passed' },
  'c.test.ts': 'no port',
});

test('files with a test that did not pass are run again, and those that could not be loaded', () => {
  expect(filesToRepeat(whole)).toEqual(['a.test.ts', 'c.test.ts']);
  expect(filesToRepeat(report({ 'd.test.ts': { four: 'skipped' } }))).toEqual(['d.test.ts']);
  expect(filesToRepeat(report({ 'd.test.ts': { four: 'passed' } }))).toEqual([]);
});

test('what passes each time alone counts as passed, and is told with its first message', () => {
  const again = report({
    'a.test.ts': { one: 'passed', two: 'passed' },
    'c.test.ts': { five: 'passed' },
  });
  const settled = settle(whole, [again, again]);
  expect(countTests(settled.report)).toEqual({ passed: 4, others: [] });
  expect(settled.unsteady).toEqual([
    { name: 'two', message: 'two was wrong\n  at x' },
    { name: 'c.test.ts', message: 'no port' },
  ]);
});

describe('a failure stays one', () => {
  const good = report({ 'a.test.ts': { one: 'passed', two: 'passed' } });
  const given = report({ 'a.test.ts': { one: 'passed', two: 'failed' } });
  test.each<[string, RunReport[]]>([
    ['when nothing ran again', []],
    [
      'when it failed a second time',
      [report({ 'a.test.ts': { one: 'passed', two: 'failed' } }), good],
    ],
    [
      'when it failed at the last time',
      [good, report({ 'a.test.ts': { one: 'passed', two: 'failed' } })],
    ],
    [
      'when it was skipped then',
      [good, report({ 'a.test.ts': { one: 'passed', two: 'skipped' } })],
    ],
    ['when it was not found then', [good, report({ 'a.test.ts': { one: 'passed' } })]],
    ['when its file did not run then', [good, report({})]],
    ['when its file could not be loaded then', [good, report({ 'a.test.ts': 'no port' })]],
    [
      'when another test of the file failed then',
      [good, report({ 'a.test.ts': { one: 'failed', two: 'passed' } })],
    ],
  ])('%s', (_, again) => {
    const settled = settle(given, again);
    expect(countTests(settled.report)).toEqual({ passed: 1, others: ['failed: two'] });
    expect(settled.unsteady).toEqual([]);
  });
});

test('a file that could not clean up is named although its tests passed', () => {
  const [file] = report({ 'a.test.ts': { one: 'passed' } }).testResults;
  const left = {
    testResults: file ? [{ ...file, status: 'failed', message: 'a process is left' }] : [],
  };
  expect(countTests(left)).toEqual({ passed: 1, others: ['failed: a.test.ts'] });
  expect(filesToRepeat(left)).toEqual(['a.test.ts']);
});

test('an error that no test caught fails the file that ran then, until the file runs without one', () => {
  const given = report({ 'a.test.ts': { one: 'passed' }, 'b.test.ts': { two: 'passed' } });
  const uncaught = { file: 'b.test.ts', message: 'no such file' };
  const failed = withUncaught(given, [uncaught]);
  expect(countTests(failed)).toEqual({ passed: 2, others: ['failed: b.test.ts'] });
  expect(filesToRepeat(failed)).toEqual(['b.test.ts']);

  const good = report({ 'b.test.ts': { two: 'passed' } });
  const settled = settle(failed, [good, good]);
  expect(countTests(settled.report)).toEqual({ passed: 2, others: [] });
  expect(settled.unsteady).toEqual([{ name: 'b.test.ts', message: 'no such file' }]);

  expect(countTests(settle(failed, [good, withUncaught(good, [uncaught])]).report).others).toEqual([
    'failed: b.test.ts',
  ]);
});

test('an error that no test caught and no file can be blamed for stays one', () => {
  const given = report({ 'a.test.ts': { one: 'passed' } });
  const failed = withUncaught(given, [{ message: 'out of memory' }]);
  const name = 'an error that no test caught: out of memory';
  expect(countTests(failed).others).toEqual([`failed: ${name}`]);
  expect(countTests(settle(failed, [given, given]).report).others).toEqual([`failed: ${name}`]);
});

test('tests that take long without the tag for it are named, the longest first', () => {
  const tests = [
    { fullName: 'quick', duration: 300 },
    { fullName: 'long', duration: 9000 },
    { fullName: 'longer', duration: 12_340, tags: ['other'] },
    { fullName: 'known', duration: 60_000, tags: ['slow'] },
    { fullName: 'left out', duration: null },
  ].map(each => ({ ...each, status: 'passed' }));
  const files = ['/clone/test/host/a.test.ts', '/clone/test/lab/b.test.ts'];
  const given = {
    testResults: files.map(name => ({ name, status: 'passed', assertionResults: tests })),
  };
  expect(untaggedSlow(given, 8)).toEqual(['12.3 s: longer', '9.0 s: long']);
});
