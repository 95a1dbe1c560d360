import { expect, test } from 'vitest';
import { formatHighstate } from '../../../src/output/highstate.ts';
import type { StateResults } from '../../../src/protocol/result.ts';
import { mix, mixFull, mixTerse, outputOptions } from '../../output/recorded.ts';

const only = (...ids: string[]): StateResults =>
  Object.fromEntries(Object.entries(mix).filter(([, { __id__ }]) => ids.includes(__id__)));

const first = (text: string, count: number): string[] => text.split('\n').slice(0, count);

test('a state run is laid out as salt-ssh 3006.9 did it', () => {
  expect(formatHighstate('host', mix, outputOptions)).toBe(mixFull);
});

test('terse prints each state on one line as salt-ssh 3006.9 did', () => {
  expect(formatHighstate('host', mix, { ...outputOptions, state_output: 'terse' })).toBe(mixTerse);
});

test('mixed is terse but for failures', () => {
  const text = formatHighstate('host', only('ok', 'bad'), {
    ...outputOptions,
    state_output: 'mixed',
  });
  expect(first(text, 4)).toEqual([
    'host:',
    '  Name: ok - Function: test.nop - Result: Clean - Started: 10:11:12.131415 - Duration: 1.5 ms',
    '----------',
    '          ID: bad',
  ]);
});

test('changes is terse only for states that are as wanted', () => {
  const text = formatHighstate('host', only('ok', 'chg'), {
    ...outputOptions,
    state_output: 'changes',
  });
  expect(first(text, 4)).toEqual([
    'host:',
    '  Name: ok - Function: test.nop - Result: Clean - Started: 10:11:12.131415 - Duration: 1.5 ms',
    '----------',
    '          ID: chg',
  ]);
});

test('an _id mode shows the ID in the place of the name', () => {
  const text = formatHighstate('host', only('run'), { ...outputOptions, state_output: 'terse_id' });
  expect(first(text, 2)[1]).toContain('  Name: run - Function: cmd.run');
  expect(
    formatHighstate('host', only('run'), { ...outputOptions, state_output: 'full_id' }),
  ).not.toContain('        Name:');
});

test('filter leaves out and shortens by result', () => {
  const text = formatHighstate('host', only('ok', 'bad'), {
    ...outputOptions,
    state_output: 'filter',
    state_output_exclude: ['True'],
    state_output_terse: ['False'],
  });
  expect(first(text, 3)).toEqual([
    'host:',
    '  Name: bad - Function: test.fail_without_changes - Result: Failed - Started: 10:11:12.131415 - Duration: 1.5 ms',
    '',
  ]);
});

test('state_verbose off and state_output_diff leave out what changed nothing', () => {
  for (const options of [{ state_verbose: false }, { state_output_diff: true }]) {
    const text = formatHighstate('host', only('ok', 'chg'), { ...outputOptions, ...options });
    expect(text).not.toContain('ID: ok');
    expect(text).toContain('ID: chg');
    expect(text).toContain('Succeeded: 2 (changed=1)');
  }
});

test('test mode counts what would change', () => {
  const results = {
    'test_|-chg_|-chg_|-nop': { ...mix['test_|-ok_|-ok_|-nop']!, result: null, changes: { a: 1 } },
  };
  expect(formatHighstate('host', results, outputOptions).split('\n').slice(-6)).toEqual(
    [
      'Summary for host',
      '------------',
      'Succeeded: 1 (unchanged=1, changed=1)',
      'Failed:    0',
      '------------',
      'Total states run:     1',
      'Total run time:   1.500 ms',
    ].slice(-6),
  );
});

test('percentages, seconds, warnings and parallel states are in the summary', () => {
  const results = {
    'a_|-a_|-a_|-b': { ...mix['test_|-ok_|-ok_|-nop']!, duration: 1200, warnings: ['old', 'bad'] },
    'a_|-c_|-c_|-b': { ...mix['test_|-ok_|-ok_|-nop']!, duration: 700, __parallel__: true },
    'a_|-d_|-d_|-b': {
      ...mix['test_|-ok_|-ok_|-nop']!,
      duration: 300,
      __parallel__: true,
      result: false,
    },
  };
  const text = formatHighstate('host', results, { ...outputOptions, state_output_pct: true });
  expect(text).toContain('     Changes:   \n    Warnings: old bad\n');
  expect(text.split('\n').slice(-10)).toEqual([
    'Summary for host',
    '------------',
    'Succeeded: 2',
    'Failed:    1',
    'Success %: 66.67',
    'Failure %: 33.33',
    'Warnings:  1',
    '------------',
    'Total states run:     3',
    'Total run time:   1.900 s',
  ]);
});

test('a run without states has a summary of nothing', () => {
  expect(formatHighstate('host', {}, outputOptions)).toBe(
    [
      'host:',
      '',
      'Summary for host',
      '-----------',
      'Succeeded: 0',
      'Failed:   0',
      '-----------',
      'Total states run:    0',
      'Total run time:  0.000 ms',
    ].join('\n'),
  );
});

test('errors of a run that did not compile are listed', () => {
  expect(formatHighstate('host', ['no such sls', 'x'], outputOptions)).toBe(
    'host:\n    Data failed to compile:\n----------\n    no such sls\n----------\n    x',
  );
});

test('colours show the result of each state and of the host', () => {
  const text = formatHighstate('host', mix, { ...outputOptions, color: true });
  expect(text.startsWith('\u001b[0;31mhost:\u001b[0;0m\n\u001b[0;32m----------\u001b[0;0m\n')).toBe(
    true,
  );
  expect(text).toContain('    \u001b[0;36m      ID: chg\u001b[0;0m');
  expect(text).toContain('    \u001b[0;31m      ID: bad\u001b[0;0m');
  expect(text).toContain('\u001b[0;32mSucceeded: 4\u001b[0;0m (\u001b[0;32mchanged=3\u001b[0;0m)');
});

test('states with one ID and result are one block when ids are compressed', () => {
  const one = mix['cmd_|-run_|-echo hi; echo err >&2_|-run']!;
  const results = {
    'cmd_|-run_|-a_|-run': { ...one, name: 'a' },
    'cmd_|-run_|-b_|-run': { ...one, name: 'b', duration: 1 },
    'cmd_|-run_|-c_|-run': { ...one, name: 'c', result: false },
  };
  const text = formatHighstate('host', results, {
    ...outputOptions,
    state_compress_ids: true,
    state_output: 'terse_id',
  });
  expect(text.split('\n')).toEqual([
    'host:',
    '  Name: run (2) - Function: cmd.run - Result: Changed - Started: 10:11:12.131415 - Duration: 1.25 ms',
    '  Name: run - Function: cmd.run - Result: Failed - Started: 10:11:12.131415 - Duration: 0.25 ms',
    '',
    'Summary for host',
    '------------',
    'Succeeded: 2 (changed=3)',
    'Failed:    1',
    '------------',
    'Total states run:     3',
    'Total run time:   1.500 ms',
  ]);
});

test('tabular terse lines have columns', () => {
  const text = formatHighstate('host', only('ok'), {
    ...outputOptions,
    state_output: 'terse',
    state_tabular: true,
  });
  expect(first(text, 2)[1]).toBe(
    '10:11:12.131415 [    1.5 ms]       test.nop        Clean     Name: ok',
  );
});

test('a change that is another run shows that run', () => {
  const results = {
    'salt_|-o_|-o_|-state': {
      ...mix['test_|-ok_|-ok_|-nop']!,
      changes: { out: 'highstate', ret: { web1: only('chg') } },
    },
  };
  const text = formatHighstate('host', results as unknown as StateResults, outputOptions);
  expect(text).toContain('     Changes:   \n              web1:\n              ----------\n');
  expect(text).toContain('              Summary for web1');
});

test('host-supplied text cannot steer the terminal', () => {
  const results = {
    'test_|-x_|-x_|-nop': {
      ...mix['test_|-ok_|-ok_|-nop']!,
      comment: 'a\u001b[2Jb\u009b1mc\u202ed',
      changes: { 'k\u001b]0;x\u0007': '\u001b[31mred\r\nnext' },
      warnings: ['\u001b[H'],
    },
  };
  const text = formatHighstate('ho\u001bst', results, outputOptions);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text).toContain('     Comment: a?[2Jb?1mc?d');
});
