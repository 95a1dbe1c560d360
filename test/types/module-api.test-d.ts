import type { StateReturn } from 'tsalt-ssh/module';
import { __opts__, __salt__, depends, kwargs } from 'tsalt-ssh/module';
import { createTestContext } from 'tsalt-ssh/testing';
import { expectTypeOf, test } from 'vitest';

test('a state that returns a wrong shape does not compile', () => {
  const good = async (name: string): Promise<StateReturn> => ({
    name,
    changes: {},
    result: true,
    comment: ['a', 'b'],
  });
  expectTypeOf(good).returns.resolves.toEqualTypeOf<StateReturn>();
  // @ts-expect-error `changes` is missing
  const noChanges: StateReturn = { name: 'x', result: true, comment: '' };
  // @ts-expect-error a result is true, false or null
  const badResult: StateReturn = { name: 'x', result: 'yes', comment: '', changes: {} };
  // @ts-expect-error a comment is text
  const badComment: StateReturn = { name: 'x', result: null, comment: 1, changes: {} };
  // @ts-expect-error changes are data
  const badChanges: StateReturn = { name: 'x', result: null, comment: '', changes: () => 1 };
  void [noChanges, badResult, badComment, badChanges];
});

test('calls between modules need no question marks, and the test flag is a boolean', () => {
  const call = async (): Promise<string> =>
    __salt__['cmd.run']('id', kwargs({ runas: 'www', cwd: '/' }));
  expectTypeOf(call).returns.resolves.toBeString();
  expectTypeOf(__opts__.test).toEqualTypeOf<boolean>();
});

test('depends() keeps the type of the function', () => {
  const list = depends('lsblk', true, (name: string) => name.length);
  expectTypeOf(list).toEqualTypeOf<(name: string) => number>();
  // @ts-expect-error a dependency is a name, a boolean or a predicate
  depends(1, (name: string) => name);
});

test('a test context returns the result of the work', () => {
  const t = createTestContext({ test: true });
  expectTypeOf(t.run(async () => 1)).toEqualTypeOf<Promise<number>>();
});
