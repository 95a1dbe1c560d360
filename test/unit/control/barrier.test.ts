import { expect, test } from 'vitest';
import { newBarrier } from '../../../src/control/fleet/barrier.ts';

const settled = async (promise: Promise<void>): Promise<boolean> => {
  const open = Symbol('open');
  const first = await Promise.race([
    promise,
    new Promise(resolve => setTimeout(resolve, 20, open)),
  ]);
  return first !== open;
};

test('a host alone never waits', async () => {
  const gate = newBarrier()();
  expect(await settled(gate.ready())).toBe(true);
});

test('hosts wait for those in flight until they are ready or gone', async () => {
  const enter = newBarrier();
  const [a, b, c] = [enter(), enter(), enter()];
  for (const one of [a, b, c]) one.connected();
  const first = a.ready();
  expect(await settled(first)).toBe(false);
  b.leave();
  expect(await settled(first)).toBe(false);
  const last = c.ready();
  expect([await settled(first), await settled(last)]).toEqual([true, true]);
});

test('one that begins later is not waited for', async () => {
  const enter = newBarrier();
  const [a, b] = [enter(), enter()];
  const first = a.ready();
  const late = enter();
  late.connected();
  b.leave();
  expect(await settled(first)).toBe(true);
});

test('one that does not answer is waited for in bounds, one that compiles without', async () => {
  const enter = newBarrier(60);
  const [a, slow, dead] = [enter(), enter(), enter()];
  slow.connected();
  const first = a.ready();
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(await settled(first)).toBe(false);
  slow.leave();
  expect(await settled(first)).toBe(true);
  dead.leave();
});
