import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fnmatch } from '../../../src/data/python/glob.ts';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import {
  escapeRegex,
  pythonMatcher,
  pythonRegex,
  pythonReplacement,
} from '../../../src/modules/_shared/text/python-regex.ts';
import { unifiedDiff } from '../../../src/modules/_shared/text/unified-diff.ts';
import { CommandExecutionError } from '../../../src/modules/api.ts';

const hasPython = which('python3') !== undefined;

/** Runs a Python expression over many inputs in one process. */
const python = (expression: string, inputs: readonly unknown[]): unknown[] =>
  JSON.parse(
    execFileSync(
      'python3',
      [
        '-c',
        `import difflib,fnmatch,json,re,sys\nprint(json.dumps([${expression} for x in json.load(sys.stdin)]))`,
      ],
      { input: JSON.stringify(inputs), maxBuffer: 2 ** 28 },
    ).toString(),
  ) as unknown[];

test.skipIf(!hasPython)('diffs are those of difflib, popular lines and all', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '}\n', 'x');
  const small = fc.sample(fc.tuple(fc.array(line), fc.array(line)), { numRuns: 300, seed: 1 });
  const long = fc.array(
    fc.oneof(
      line,
      fc.nat(300).map(n => `${n}\n`),
    ),
    { minLength: 180, maxLength: 500 },
  );
  const large = fc.sample(
    fc
      .tuple(long, fc.array(fc.nat(499), { maxLength: 8 }))
      .map(([lines, cuts]) => [
        lines,
        lines.filter((_, at) => !cuts.includes(at)).toSpliced(cuts[0] ?? 0, 0, 'new\n', '}\n'),
      ]),
    { numRuns: 60, seed: 2 },
  );
  const inputs = [...small, ...large];
  expect(inputs.map(([a = [], b = []]) => unifiedDiff(a, b).join(''))).toEqual(
    python('"".join(difflib.unified_diff(x[0], x[1]))', inputs),
  );
});

test.skipIf(!hasPython)('regular expressions match and replace as in Python', () => {
  const patterns: [string, string, string, number][] = [
    ['^a$', 'X', 'a\nb\na', 8],
    ['^a$', 'X', 'a\n', 0],
    ['(?P<k>\\w+)=(\\d+)', '\\g<k>:\\2', 'port=80 x=1', 8],
    ['(?i)HELLO', 'bye', 'Hello hello', 0],
    ['a.b', 'X', 'a\nb', 16],
    ['a.b', 'X', 'a\nb a\rb', 0],
    ['\\Aa|b\\Z', 'X', 'ab\nab', 8],
    ['[^]a]', 'X', 'a]b', 0],
    ['[[]x', 'X', '[x', 0],
    ['\\#\\-\\"x', 'X', '#-"x', 0],
    ['^\\s*#?\\s*Port\\s+\\d+', 'Port 2222', '  # Port 22\nPort 1', 8],
    ['(a)|b', '\\1!', 'ab', 0],
    ['x{2,3}', 'Y', 'xxxxx', 0],
    ['x{,2}y', 'Y', 'xxxy', 0],
    ['x{2}', 'Y', 'xxx x{2}', 0],
    ['\\{%- if x{2} %}', 'Y', '{%- if xx %}', 0],
    ['{a}', 'Y', '{a}', 0],
    ['}', ']', '{}', 0],
    ['$', '!', 'a\n', 0],
    ['$', '!', 'a\nb\n', 8],
    ['a', 'x\\ny\\\\z', 'a', 0],
    ['a b  # the rest\n | c', 'X', 'ab a b c', 64],
    ['(?x) a [ ] b', 'X', 'a b', 0],
    ['\\w+\\b', 'X', 'é1, ñ', 0],
    ['\\w+\\b', 'X', 'éa, ñb', 256],
    ['(?a)\\d|\\s|\\S{2}', 'X', '١\u00a0a 1', 0],
    ['[\\w-]+', 'X', 'a-b.c', 0],
    ['(?P<q>[\'"]).*?(?P=q)', '<\\g<0>>', 'x="it\'s"', 0],
    ['(?#note)\\x41|\\101|\\u0042', '\\101', 'AB', 0],
    ['é', 'X', 'É', 2],
  ];
  const ours = patterns.map(([pattern, repl, text, flags]) =>
    text.replace(pythonRegex(pattern, flags, 'g'), pythonReplacement(repl)),
  );
  expect(ours).toEqual(python('re.sub(x[0], x[1], x[2], flags=x[3])', patterns));
});

test('broken expressions and replacements are refused with the reason', () => {
  const reason = (pattern: string, replacement = '') => {
    try {
      return 'a'.replace(pythonRegex(pattern), pythonReplacement(replacement));
    } catch (error) {
      return error instanceof CommandExecutionError ? error.message : error;
    }
  };
  expect(reason('(')).toBe('Invalid regular expression "(": unterminated group');
  expect(reason('[a')).toMatch(/: the "\[" at position 0 is never closed$/);
  expect(reason('a\\')).toBe('Invalid regular expression "a\\": it ends in a lone backslash');
  expect(reason('(?>a)')).toMatch(/: "\(\?>a" at position 0 is not supported$/);
  expect(reason('a', '\\d')).toMatch(/bad escape \\d in the replacement/);
  expect(reason('(a)', '\\2')).toMatch(/the pattern has no group 2$/);
});

test('flags at the start of an expression count where it has to match at the start', () => {
  const matches = pythonMatcher('(?i)ab');
  expect([matches('ABc'), matches('ABc'), matches('xab')]).toEqual([true, true, false]);
});

test('escaped text matches itself and nothing else', { tags: 'slow' }, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(pythonRegex(`\\A${escapeRegex(text)}\\Z`).test(text)).toBe(true);
      expect(pythonRegex(`\\A${escapeRegex(text)}\\Z`).test(`${text}x`)).toBe(false);
    }),
  );
});

test.skipIf(!hasPython)('globs match as in Python', () => {
  const piece = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '.', '/', '[', ']', '-', '\\');
  const inputs = fc.sample(
    fc.tuple(
      fc
        .array(fc.constantFrom('a', 'b', '.', '/', '[', ']', '\\'), { maxLength: 6 })
        .map(x => x.join('')),
      fc.array(piece, { maxLength: 6 }).map(x => x.join('')),
    ),
    { numRuns: 500, seed: 3 },
  );
  expect(inputs.map(([text, glob]) => fnmatch(text, glob))).toEqual(
    python('fnmatch.fnmatchcase(x[0], x[1])', inputs),
  );
});
