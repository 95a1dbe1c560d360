import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareAlpine,
  compareDebian,
  compareRpm,
} from '../../../src/modules/_shared/text/package-version.ts';
import { byEpoch } from '../../../src/modules/pkg/apt-versions.ts';
import { fulfills } from '../../../src/modules/pkg/packages.ts';

const hasDpkg = spawnSync('dpkg', ['--version']).status === 0;

test.skipIf(!hasDpkg)('Debian versions are ordered as dpkg orders them', () => {
  const part = fc.stringMatching(/^[0-9][0-9a-c.+~]{0,6}$/);
  const version = fc
    .tuple(fc.option(fc.nat(3)), part, fc.option(fc.stringMatching(/^[0-9a-c.+~]{1,4}$/)))
    .map(
      ([epoch, upstream, revision]) =>
        `${epoch === null ? '' : `${epoch}:`}${upstream}${revision === null ? '' : `-${revision}`}`,
    );
  fc.assert(
    fc.property(version, version, (left, right) => {
      const older = spawnSync('dpkg', ['--compare-versions', left, 'lt', right]).status === 0;
      const same = spawnSync('dpkg', ['--compare-versions', left, 'eq', right]).status === 0;
      expect(Math.sign(compareDebian(left, right))).toBe(older ? -1 : same ? 0 : 1);
    }),
    { numRuns: 120 },
  );
});

test.each([
  ['1.0-1', '1.0-2', -1],
  ['1.10', '1.9', 1],
  ['1:1.0', '2.0', 1],
  ['1.0~rc1', '1.0', -1],
  ['1.0^git1', '1.0', 1],
  ['1.0^git1', '1.0.1', -1],
  ['2.0.1a', '2.0.1', 1],
  ['5.5p10', '5.5p2', 1],
  ['xyz10', 'xyz10.1', -1],
  ['1.0a', '1.0.1', -1],
  ['4.999.9', '5.0', -1],
  ['1.8.0-1.el8', '1.8.0', 0],
])('rpm: %s against %s', (left, right, order) => {
  expect(Math.sign(compareRpm(left, right))).toBe(order);
});

test.each([
  ['1.2.3-r0', '1.2.3-r1', -1],
  ['1.2_rc1-r0', '1.2-r0', -1],
  ['1.10-r0', '1.9-r0', 1],
  ['1.2a-r0', '1.2-r0', 1],
  ['1.2_p1', '1.2', 1],
])('apk: %s against %s', (left, right, order) => {
  expect(Math.sign(compareAlpine(left, right))).toBe(order);
});

test.each([
  ['1.2', true],
  ['1.*', true],
  ['2.*', false],
  ['>=1.2', true],
  ['>1.2', false],
  ['>=1.0,<2', true],
  ['>=1.0,<1.2', false],
  ['!=1.2', false],
  ['==1.2', true],
])('an installed 1.2 and the condition %s', (condition, expected) => {
  expect(fulfills(['1.2'], condition, compareDebian)).toBe(expected);
});

test.each([
  // The result of real Salt 3006.9 for an installed 1:1.0 (states/pkg.py, _check_ignore_epoch).
  ['1.0', {}, true],
  ['!=1.0', {}, false],
  ['>=2.0', {}, true],
  ['<2.0', {}, false],
  ['2:1.0', {}, false],
  ['1.0', { ignoreEpoch: false }, false],
  ['>=2.0', { ignoreEpoch: true }, false],
  ['<2.0', { ignoreEpoch: true }, true],
])('an installed 1:1.0 and the condition %s with %o', (condition, options, expected) => {
  expect(fulfills(['1:1.0'], condition, byEpoch, options)).toBe(expected);
});

test('one and the same version has to meet all conditions', () => {
  expect(fulfills(['1.0', '3.0'], '>1.0,<3.0', compareDebian)).toBe(false);
  expect(fulfills(['1.0', '2.0'], '>1.0,<3.0', compareDebian)).toBe(true);
});

test('updates are allowed from one exact version only', () => {
  expect(fulfills(['2.0'], '1.0', compareDebian, { allowUpdates: true })).toBe(true);
  expect(fulfills(['2.0'], '1.0,1.0', compareDebian, { allowUpdates: true })).toBe(false);
  expect(fulfills(['2.0'], '>=1.0,<1.1', compareDebian, { allowUpdates: true })).toBe(false);
});

test('a newer version is fine where updates are allowed', () => {
  expect(fulfills(['1.3'], '1.2', compareDebian)).toBe(false);
  expect(fulfills(['1.3'], '1.2', compareDebian, { allowUpdates: true })).toBe(true);
});
