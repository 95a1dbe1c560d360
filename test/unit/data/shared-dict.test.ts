import { expect, test } from 'vitest';
import { isOrdered, markOrdered } from '../../../src/data/values/ordered.ts';
import { copyDict, copyOnUse } from '../../../src/data/values/shared-dict.ts';
import { type Data, type Dict, isDict, toPlain } from '../../../src/data/values/value.ts';
import { seeded } from '../../helpers/random.ts';

const example = (): Dict =>
  new Map<string, Data>([
    ['a', 1],
    ['b', markOrdered(new Map<string, Data>([['x', [new Map([['deep', 1]])]]]))],
    ['c', null],
    ['d', 'text'],
  ]);

test('a copy on use behaves as a Map under random changes', () => {
  const next = seeded(11);
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (let round = 0; round < 400; round += 1) {
    const original = example();
    let [copy, model] = [copyOnUse(original) as Dict, example()];
    for (let step = 0; step < 12; step += 1) {
      const key = keys[Math.floor(next() * keys.length)] ?? '';
      const what = next();
      if (what < 0.3) for (const dict of [copy, model]) dict.set(key, step);
      else if (what < 0.5) expect(copy.delete(key)).toBe(model.delete(key));
      else if (what < 0.55) for (const dict of [copy, model]) dict.clear();
      else if (what < 0.65) [copy, model] = [copyDict(copy), copyDict(model)];
      else if (what < 0.8) expect(copy.has(key)).toBe(model.has(key));
      else expect(toPlain(copy.get(key) ?? 'none')).toEqual(toPlain(model.get(key) ?? 'none'));
      expect(copy.size).toBe(model.size);
    }
    expect([...copy.keys()]).toEqual([...model.keys()]);
    expect(JSON.stringify([...copy.values()].map(toPlain))).toBe(
      JSON.stringify([...model.values()].map(toPlain)),
    );
    expect(original).toEqual(example());
  }
});

test('a copy on use keeps its nested values, and changes nothing of the original', () => {
  const original = example();
  const copy = copyOnUse(original) as Dict;
  const nested = copy.get('b');
  expect(isDict(nested) && isOrdered(nested)).toBe(true);
  expect(copy.get('b')).toBe(nested);
  expect([...copy.values()][1]).toBe(nested);
  const list = isDict(nested) ? nested.get('x') : null;
  const deep = Array.isArray(list) ? list[0] : null;
  if (isDict(deep)) deep.set('deep', 2);
  expect(toPlain(copy)).toMatchObject({ b: { x: [{ deep: 2 }] } });
  expect(original).toEqual(example());
});

test('parts that occur twice are one part of a copy on use', () => {
  const part: Dict = new Map([['x', 1]]);
  const copy = copyOnUse(
    new Map<string, Data>([
      ['one', part],
      ['two', [part]],
    ]),
  ) as Dict;
  const two = copy.get('two');
  expect(Array.isArray(two) && two[0]).toBe(copy.get('one'));
  expect(copy.get('one')).not.toBe(part);
});
