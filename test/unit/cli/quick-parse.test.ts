import { assert, constantFrom, array as listOf, property } from 'fast-check';
import { expect, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { quickParse } from '../../../src/cli/quick-parse.ts';
import { options } from '../../../src/request/options.ts';

const names = Object.entries(options).flatMap(([name, option]) => [
  `--${name}`,
  ...('alias' in option ? [option.alias ?? []].flat(2) : []).map(alias =>
    alias.length === 1 ? `-${alias}` : `--${alias}`,
  ),
]);

const pool = [
  ...names,
  ...names.map(name => `${name}=json`),
  ...['web*', 'state.apply', 'test=True', 'true', 'false', '5', '-5', '', 'a b', "'q'", '"', '--'],
  ...[
    '-',
    '-EL',
    '-c=x',
    '--out=',
    '--no-such',
    '--',
    '--out=a=b',
    'ssh2',
    '--transport=ssh2',
    'é',
  ],
];

const slow = (argv: readonly string[]): unknown => {
  try {
    return parseArguments(argv);
  } catch (error) {
    return error;
  }
};

test('the quick parser reads the same as yargs', { tags: 'slow' }, () => {
  void assert(
    property(listOf(constantFrom(...pool), { maxLength: 5 }), argv => {
      const quick = quickParse(argv);
      if (quick !== undefined) expect(quick).toEqual(slow(argv));
    }),
    { numRuns: 2000 },
  );
});

test('common command lines need no yargs', () => {
  expect(
    quickParse(['web*', 'state.apply', 'nginx', 'test=True', '--out=json', '--static']),
  ).toEqual({
    options: { out: 'json', static: true },
    words: ['web*', 'state.apply', 'nginx', 'test=True'],
  });
  expect(quickParse(['-E', 'web[12]', 'cmd.run', 'ls -l', '-c', 'conf', '-l', 'debug'])).toEqual({
    options: { pcre: true, config: 'conf', 'log-level': 'debug' },
    words: ['web[12]', 'cmd.run', 'ls -l'],
  });
});

test.each([
  [['--no-such', 'x']],
  [['x', '--out']],
  [['x', '--', '-y']],
  [['--transport', 'pigeon']],
  [['--ssh-option', 'A=b']],
  [['--out', 'json', '--out', 'yaml']],
])('%j is left to yargs', argv => {
  expect(quickParse(argv)).toBeUndefined();
});
