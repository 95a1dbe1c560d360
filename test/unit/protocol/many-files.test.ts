import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largestOfMany, ManyUnpacker } from '../../../src/protocol/many-files.ts';
import { packOne } from '../../helpers/pack-one.ts';

const collect = (
  isUsedAtOnce = false,
): { readonly got: (Buffer | undefined)[]; push: (bytes: Uint8Array) => void } => {
  const got: (Buffer | undefined)[] = [];
  const { push } = new ManyUnpacker(
    bytes => got.push(isUsedAtOnce && bytes ? Buffer.from(bytes) : bytes),
    isUsedAtOnce,
  );
  return { got, push };
};

test('many files: what is packed is unpacked, in whichever pieces it arrives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined })),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
      fc.boolean(),
      (items, lengths, isUsedAtOnce) => {
        const whole = Buffer.concat(items.map(item => packOne(item)));
        const { got, push } = collect(isUsedAtOnce);
        for (let at = 0, piece = 0; at < whole.length; piece += 1) {
          const length = lengths[piece % lengths.length] ?? 1;
          const received = Buffer.from(whole.subarray(at, at + length));
          push(received);
          // As the memory of a frame, which the next one may get.
          received.fill(0xee);
          at += length;
        }
        expect(got).toEqual(items.map(item => item && Buffer.from(item)));
      },
    ),
  );
});

test('many files: a file that is longer than allowed is refused before its memory is taken', () => {
  const { got, push } = collect();
  push(packOne(Buffer.alloc(largestOfMany, 1)));
  expect(got).toEqual([Buffer.alloc(largestOfMany, 1)]);
  expect(() => push(Buffer.from([0, 1, 0, 1]))).toThrow('a file of 65537 bytes among small ones');
});
