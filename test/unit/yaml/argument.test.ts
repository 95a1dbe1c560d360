import { expect, test } from 'vitest';
import { Float } from '../../../src/data/values/value.ts';
import { loadYamlArgument } from '../../../src/yaml/argument.ts';

test.each([
  ['5', 5],
  ['1.0', new Float(1)],
  ['yes', true],
  ['True', true],
  ['None', null],
  ['null', null],
  ['~', null],
  ['0644', 644],
  ["'0644'", '0644'],
  ['', ''],
  ['  ', '  '],
  ['---', '---'],
  ['...', '...'],
  ['1_000', '1_000'],
  ['a_1', 'a_1'],
  ['a\tb', 'a\tb'],
  ['a\nb', 'a\nb'],
  ['a # b', 'a # b'],
  ['#', '#'],
  ['5 # five', 5],
  ['[1, 2]', [1, 2]],
  ['- a', '- a'],
  ['{a: 1}', new Map([['a', 1]])],
  ['a: 1', 'a: 1'],
  ['|', '|'],
  ['!', '!'],
  ['[1', '[1'],
  ['*', '*'],
  ['%x', '%x'],
  ['2020-01-02', '2020-01-02'],
])('the argument %j', (text, expected) => {
  expect(loadYamlArgument(text)).toEqual(expected);
});
