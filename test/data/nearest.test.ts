import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../src/data/nearest.ts';

test('the nearest name is at most two edits away', () => {
  expect(nearest('prot', ['port', 'priv'])).toBe('port');
  expect(nearest('xyz', ['port', 'priv'])).toBeUndefined();
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (name, known) => {
      const found = nearest(name, known);
      if (found !== undefined) expect(Math.abs(found.length - name.length)).toBeLessThanOrEqual(2);
      if (known.some(one => one.toLowerCase() === name.toLowerCase()))
        expect(found?.toLowerCase()).toBe(name.toLowerCase());
    }),
  );
});
