import { expect, test } from 'vitest';
import { Endable } from '../../../../src/control/workers/endable.ts';
import { heldHeap } from '../../../helpers/held-heap.ts';

const never = (): Promise<never> => new Promise(() => undefined);

test('work returns its own result, or ends with the error, also when it begins later', async () => {
  const work = new Endable();
  const [one, other] = [work.until(never()), work.until(never())];
  expect(await work.until(Promise.resolve(1))).toBe(1);
  await expect(work.until(Promise.reject(new Error('own')))).rejects.toThrow('own');
  work.end(new Error('gone'));
  await expect(one).rejects.toThrow('gone');
  await expect(other).rejects.toThrow('gone');
  await expect(work.until(never())).rejects.toThrow('gone');
});

test('work that has finished holds no memory', { tags: 'slow' }, async () => {
  const work = new Endable();
  const some = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await work.until(Promise.resolve(at));
  };
  await some(1000);
  const before = heldHeap();
  await some(50_000);
  // A race with a promise that lasts holds some 400 bytes for each.
  expect((heldHeap() - before) / 50_000).toBeLessThan(40);
});
