import { expectTypeOf, test } from 'vitest';
import { connect, type FleetRun, type Plain, run } from '../../src/library/index.ts';

test('results have the type of the built-in function', () => {
  void (async () => {
    const [versions] = await run({ target: '*', fun: 'acl.version' }).results();
    expectTypeOf(versions?.value).toEqualTypeOf<string | undefined>();
    const [own] = await run({ target: '*', fun: 'mine.own' }).results();
    expectTypeOf(own?.value).toEqualTypeOf<Plain | undefined>();
    const session = await connect({ target: '*' });
    expectTypeOf(session.run({ fun: 'acl.version' })).toEqualTypeOf<FleetRun<'acl.version'>>();
    // @ts-expect-error a slip in the name of an option
    run({ target: '*', fun: 'test.ping', tets: true });
  });
});
