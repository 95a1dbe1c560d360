import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largestOfMany, ManyUnpacker, packOne } from '../../../src/protocol/many-files.ts';

const collect = (): { readonly got: (Buffer | undefined)[]; push: (bytes: Uint8Array) => void } => {
  const got: (Buffer | undefined)[] = [];
  const { push } = new ManyUnpacker(bytes => got.push(bytes));
  return { got, push };
};

test('many files: what is packed is unpacked, in whichever pieces it arrives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined })),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (items, lengths) => {
        const whole = Buffer.concat(items.flatMap(packOne));
        const { got, push } = collect();
        for (let at = 0, piece = 0; at < whole.length; piece += 1) {
          const length = lengths[piece % lengths.length] ?? 1;
          push(whole.subarray(at, at + length));
          at += length;
        }
        expect(got).toEqual(items.map(item => item && Buffer.from(item)));
      },
    ),
  );
});

test('many files: a file that is longer than allowed is refused before its memory is taken', () => {
  const { got, push } = collect();
  push(Buffer.concat(packOne(Buffer.alloc(largestOfMany, 1))));
  expect(got).toEqual([Buffer.alloc(largestOfMany, 1)]);
  expect(() => push(Buffer.from([0, 1, 0, 1]))).toThrow('a file of 65537 bytes among small ones');
});
