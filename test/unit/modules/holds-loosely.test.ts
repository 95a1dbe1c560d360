import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeRegex, pythonRegex } from '../../../src/modules/_shared/text/python-regex.ts';
import { splitLines } from '../../../src/modules/_shared/text/python-text.ts';
import { holdsLoosely } from '../../../src/modules/file/holds-loosely.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

/** The result of Salt's `check_state_result` for a text. */
const saltsRegex = (wanted: string): RegExp => {
  const gap = '(?:[\\s]+)?';
  const lines = splitLines(wanted).map(line =>
    [gap, line.split(/\s+/).filter(Boolean).map(escapeRegex).join(gap), gap].join(''),
  );
  return pythonRegex(`(?m)^${lines.join('')}$`, 256 + 8);
};

const someText = fc
  .array(fc.constantFrom('a', 'b', 'ab', '.', ' ', '\t', '\n', '\n', '\r\n', '\u00a0', 'é'), {
    maxLength: 12,
  })
  .map(parts => parts.join(''));

test('finds what the regular expression finds', () => {
  const isSame = (text: string, wanted: string): boolean =>
    holdsLoosely(text, wanted) === saltsRegex(wanted).test(text);
  const wanted = someText.filter(text => text !== '');
  fc.assert(fc.property(someText, wanted, isSame), { numRuns: 5000 });
});

test('many lines and blanks take no time that grows with their square', () => {
  const begin = cpuTime();
  const text = `${'\n'.repeat(200_000)}${'word \n'.repeat(200_000)}`;
  expect(holdsLoosely(text, 'word '.repeat(200_000))).toBe(true);
  expect(holdsLoosely(text, 'other')).toBe(false);
  expect(cpuTime() - begin).toBeLessThan(10_000);
});
