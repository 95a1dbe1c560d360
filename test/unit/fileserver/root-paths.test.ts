import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNormal, normalise } from '../../../src/fileserver/root-paths.ts';

const paths = fc
  .array(fc.constantFrom('/', '.', '..', 'a', '...', '.a', 'a.', '\0', '\n'), { maxLength: 6 })
  .map(parts => parts.join(''));

test('normalise: returns what posix.normalize returns for a file within the roots, and else nothing', () => {
  fc.assert(
    fc.property(paths, path => {
      const normal = posix.normalize(path);
      const isOutside = posix.isAbsolute(path) || normal === '..' || normal.startsWith('../');
      const isFile = normal !== '.' && !normal.endsWith('/') && !path.includes('\0');
      expect(normalise(path)).toBe(!isOutside && isFile ? normal : undefined);
    }),
  );
});

test('isNormal: holds for no path that normalizing would change or refuse', () => {
  for (const path of ['a', 'a/b', '.a/..b', 'a./b..', '...', 'a b\n'])
    expect(isNormal(path), path).toBe(true);
  for (const path of ['', '.', '..', '/a', 'a/', 'a//b', './a', '../a', 'a/..', 'a/./b', 'a\0'])
    expect(isNormal(path), path).toBe(false);
});
