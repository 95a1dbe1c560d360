import { expect, test } from 'vitest';
import { HeldResults } from '../../../src/output/held-results.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import { dictOf } from '../../../src/protocol/key-order.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { isWholeFloat, markWholeFloat } from '../../../src/protocol/whole-floats.ts';

test('HeldResults: returns from the file what it was given', () => {
  const store = new HeldResults();
  const inMemory = store.hold({ id: 'a', fun: 'f', retcode: 0, value: 'x'.repeat(7_900_000) });
  const ordered = dictOf([
    ['b', 1],
    ['2', 'x'],
    ['1', null],
  ]);
  const float = { number: 1 };
  markWholeFloat(float, 'number');
  const value = {
    text: `${'é😀"\n\u0000'.repeat(200_000)}`,
    lone: `${'y'.repeat(100_000)}\ud83d`,
    marked: ['\u0000', '\u00000', '\u00001 and more'],
    ordered,
    float,
  };
  const given: HostResult = { id: 'b', fun: 'f', retcode: 0, value };
  const held = store.hold(given);

  expect(held.about).toEqual({ id: 'b', fun: 'f', retcode: 0 });
  const taken = held.take();
  expect(taken).toEqual(given);
  expect(taken).not.toBe(given);
  const { ordered: order, float: number } = taken.value as typeof value;
  expect(Object.entries(order)).toEqual(Object.entries(ordered));
  expect(isWholeFloat(number, 'number')).toBe(true);
  expect(inMemory.take().value).toHaveLength(7_900_000);
  store.close();
});

test('HeldResults: returns from the file a result without long strings, and one with marks', () => {
  const store = new HeldResults();
  store.hold({ id: 'a', fun: 'f', retcode: 0, value: 'x'.repeat(7_900_000) });
  const plain: HostResult = { id: 'b', fun: 'f', retcode: 0, value: Array(20_000).fill('short') };
  const float = { number: 1 };
  markWholeFloat(float, 'number');
  const marked: HostResult = { ...plain, value: [plain.value ?? null, float] };
  const [first, second] = [store.hold(plain).take(), store.hold(marked).take()];

  expect(first).toEqual(plain);
  expect(first).not.toBe(plain);
  expect(second).toEqual(marked);
  expect(isWholeFloat((second.value as [Plain, PlainDict])[1], 'number')).toBe(true);
  store.close();
});
