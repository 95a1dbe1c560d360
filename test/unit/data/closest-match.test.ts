import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closestMatch } from '../../../src/data/closest-match.ts';

test('the nearest name is at most two edits away', () => {
  expect(closestMatch('prot', ['port', 'priv'])).toBe('port');
  expect(closestMatch('xyz', ['port', 'priv'])).toBeUndefined();
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (name, known) => {
      const found = closestMatch(name, known);
      if (found !== undefined) expect(Math.abs(found.length - name.length)).toBeLessThanOrEqual(2);
      if (known.some(one => one.toLowerCase() === name.toLowerCase()))
        expect(found?.toLowerCase()).toBe(name.toLowerCase());
    }),
  );
});
