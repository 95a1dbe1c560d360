import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellArgs } from '../../../src/data/python/shell-words.ts';

const split = (line: string): string[] | undefined => {
  try {
    return shellArgs(line);
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
};

test.each<[string, string[] | undefined]>([
  ['', []],
  ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
  [`a"b c"'d e'f`, ['ab cd ef']],
  [`"" ''`, ['', '']],
  [String.raw`"\a\"\\" '\a' \a`, ['\\a"\\', String.raw`\a`, 'a']],
  ['a # b', ['a', '#', 'b']],
  ['a\u00a0b', ['a\u00a0b']],
  ['a\\\nb', ['a\nb']],
  ['a\\', undefined],
  ['"a', undefined],
  ['"a\\', undefined],
])('shellWords: splits %j as recorded from Python', (line, words) => {
  expect(split(line)).toEqual(words);
});

const python = `
import json, shlex, sys
def split(line):
    try:
        return shlex.split(line)
    except ValueError:
        return None
print(json.dumps([split(line) for line in json.load(sys.stdin)]))`;

test('shellWords: splits like the shlex module of Python', () => {
  const character = fc.constantFrom(...'aab  "\'\\\\#$=\n\té-;\u00a0');
  const line = fc.array(character, { maxLength: 12 }).map(parts => parts.join(''));
  const lines = fc.sample(line, 3000);
  const words: unknown = JSON.parse(
    execFileSync('python3', ['-c', python], { input: JSON.stringify(lines), encoding: 'utf8' }),
  );
  expect(lines.map(text => split(text) ?? null)).toEqual(words);
});
