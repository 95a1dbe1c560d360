import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitMerged, fitStreams, fittingPart } from '../../../src/modules/cmd/fit-output.ts';
import { encodeJson } from '../../../src/protocol/frame.ts';

const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** A half of a character beyond U+FFFF without the other one. */
const half = /\p{Surrogate}/u;

test('the part of an output that fits is the longest beginning whose JSON is not too long', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\n', '"', '\\', 'a', '\0', 'é', '€', '😀') }),
  );
  fc.assert(
    fc.property(text, fc.nat(60), (whole, most) => {
      const part = fittingPart(whole, most);
      expect(whole.startsWith(part)).toBe(true);
      expect(sizeOf(part)).toBeLessThanOrEqual(most);
      expect(half.test(part) && !half.test(whole)).toBe(false);
      const next = [...whole.slice(part.length)][0];
      // Both halves of a character beyond U+FFFF count as three bytes, which is two too many.
      if (next !== undefined && !/[\ud800-\u{10ffff}]/u.test(whole))
        expect(sizeOf(part + next)).toBeGreaterThan(most);
    }),
    { numRuns: 2000 },
  );
});

const lines = 'y\n'.repeat(22_000_000);
const none = { stdout: 0, stderr: 0 };

test('44 MB of short lines, which are 66 MB of JSON, fit into a message and say what is missing', () => {
  const { text, note } = fitMerged(lines, 5);
  expect(note).toMatch(
    /^\n\[output is cut: the first 40 MB are kept, 2056965 bytes more are not\.\]$/,
  );
  expect(() => encodeJson({ value: text + note })).not.toThrow();
});

test('two long streams fit into one message; a short one is whole', { tags: 'slow' }, () => {
  const both = fitStreams(lines, lines, none);
  expect(() => encodeJson({ stdout: both.stdout.text, stderr: both.stderr.text })).not.toThrow();
  expect(both.stdout.note).toContain('stdout is cut');
  expect(both.stderr.note).toContain('stderr is cut');
  expect(fitStreams(lines, 'short', none).stderr).toEqual({ text: 'short', note: '' });
  expect(fitStreams('short', 'short', none).stdout).toEqual({ text: 'short', note: '' });
});
