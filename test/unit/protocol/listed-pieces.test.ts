import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListedFile } from '../../../src/protocol/job.ts';
import { packPieces, unpackPieces } from '../../../src/protocol/listed-pieces.ts';

const listedFile = fc.tuple(
  fc.string({ unit: 'binary' }),
  fc.nat(),
  fc.nat(0o7777),
  fc.option(fc.string()),
);

test('listed pieces: what is packed is unpacked, in whichever parts it arrives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(listedFile, { maxLength: 5 }), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
      async (pieces, lengths) => {
        const given = (async function* () {
          yield* pieces;
        })();
        const packed: Uint8Array[] = [];
        for await (const part of packPieces(given)) packed.push(part);
        const whole = Buffer.concat(packed);
        const got: (readonly ListedFile[])[] = [];
        const push = unpackPieces(piece => got.push(piece));
        for (let at = 0, part = 0; at < whole.length; part += 1) {
          const length = lengths[part % lengths.length] ?? 1;
          // The memory is used again for the next part.
          const bytes = Uint8Array.from(whole.subarray(at, at + length));
          push(bytes);
          bytes.fill(0);
          at += length;
        }
        expect(got).toEqual(pieces);
      },
    ),
  );
});
