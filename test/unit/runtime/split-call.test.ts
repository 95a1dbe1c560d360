import { expect, test } from 'vitest';
import { Kwargs } from '../../../src/modules/api.ts';
import type { FunctionSignature } from '../../../src/protocol/meta.ts';
import { splitCall } from '../../../src/runtime/bind.ts';

const write: FunctionSignature = { positional: [{ name: 'path' }], rest: { name: 'args' } };

/** A call as the older form of `module.run` makes it. */
const lenient = (
  signature: FunctionSignature,
  args: unknown[],
  values: Record<string, unknown>,
) => {
  const told: string[] = [];
  const call = splitCall(signature, [...args, new Kwargs(values, names => told.push(...names))]);
  return { ...call, told };
};

test('named arguments come first in a function that takes any number', () => {
  expect(lenient(write, ['a', 'b'], { path: '/f' })).toEqual({
    args: ['/f', 'a', 'b'],
    kwargs: {},
    told: [],
  });
  expect(lenient({ ...write, anyKeyword: true }, ['a'], { path: '/f', mode: 1 })).toEqual({
    args: ['/f', 'a'],
    kwargs: { mode: 1 },
    told: [],
  });
});

test('keywords that a function does not have are left out and reported', () => {
  const echo: FunctionSignature = { positional: [{ name: 'text' }], keywords: [{ name: 'loud' }] };
  expect(lenient(echo, [], { text: 'x', foo: 1, loud: true })).toEqual({
    args: [],
    kwargs: { text: 'x', loud: true },
    told: ['foo'],
  });
  expect(splitCall(echo, [new Kwargs({ text: 'x', foo: 1 })]).kwargs).toEqual({
    text: 'x',
    foo: 1,
  });
});
