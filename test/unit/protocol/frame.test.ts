import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  beginCompression,
  compressFrames,
  encodeData,
  encodeFrame,
  encodeJson,
  FrameDecoder,
  frameType,
  maxFrame,
} from '../../../src/protocol/frame.ts';

/** The bytes of `["…"]` around the text. */
const around = 4;

test.each([
  maxFrame - around,
  maxFrame - around + 1,
  2 * maxFrame - around - 1,
  2 * maxFrame - around,
  2 * maxFrame - around + 1,
  3 * maxFrame + 12_345,
])('a message with a text of %i bytes is the same after its frames were read', size => {
  // Multi-byte characters lie across the borders of parts.
  const text = 'aé€😀'.repeat(Math.floor(size / 10)) + 'x'.repeat(size % 10);
  const decoder = new FrameDecoder();
  decoder.push(encodeJson([text]));
  const frames = [];
  for (let frame = decoder.next(); frame; frame = decoder.next()) frames.push(frame);
  const parts = frames.map(({ payload }) => payload.length);
  expect(parts.slice(0, -1).every(length => length === maxFrame)).toBe(true);
  expect(frames.map(({ type }) => type)).toEqual([
    ...frames.slice(1).map(() => frameType.part),
    frameType.json,
  ]);
  const whole = Buffer.concat(frames.map(({ payload }) => payload));
  expect(whole.length).toBe(size + around);
  expect(JSON.parse(whole.toString())[0] === text).toBe(true);
});

const decoded = (decoder: FrameDecoder): [number, string][] => {
  const frames: [number, string][] = [];
  for (let frame = decoder.next(); frame; frame = decoder.next())
    frames.push([frame.type, Buffer.from(frame.payload).toString('latin1')]);
  return frames;
};

const frames = fc.oneof(
  fc.string({ maxLength: 50 }).map(text => encodeJson([text])),
  fc.integer({ min: 0, max: 30_000 }).map(size => encodeJson(['value '.repeat(size)])),
  fc.integer({ min: 0, max: 300_000 }).map(size => encodeData(size, new Uint8Array(size).fill(7))),
  fc.constant(encodeJson('aé€😀'.repeat(maxFrame / 5))),
);

test('any frames, compressed together and in any pieces, are the same after they were read', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(frames, { maxLength: 3 }), fc.boolean()), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 20 }),
      (batches, sizes) => {
        const plain = new FrameDecoder();
        const other = new FrameDecoder(() => undefined);
        const wire: Uint8Array[] = [];
        for (const [batch, isCompressed] of batches) {
          const bytes = Buffer.concat(batch);
          plain.push(bytes);
          wire.push(isCompressed ? compressFrames(bytes) : bytes);
        }
        const bytes = Buffer.concat([beginCompression(new Uint8Array()), ...wire]);
        const seen: [number, string][] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          other.push(bytes.subarray(at, at + size));
          seen.push(...decoded(other));
          at += size;
        }
        expect(seen).toEqual(decoded(plain));
      },
    ),
    { numRuns: 60 },
  );
});

test('the side that compresses first allows it to the other one, also with short messages', () => {
  for (const message of ['hi', 'x'.repeat(5000)]) {
    let allowed = false;
    const decoder = new FrameDecoder(() => {
      allowed = true;
    });
    decoder.push(beginCompression(encodeJson(message)));
    expect(decoded(decoder)).toEqual([[frameType.json, JSON.stringify(message)]]);
    expect(allowed).toBe(true);
  }
});

const compressed = (bytes: Uint8Array): Uint8Array =>
  encodeFrame(frameType.compressed, deflateRawSync(bytes));

test.each<[string, Uint8Array]>([
  ['a frame that becomes longer than 1 MiB', compressed(new Uint8Array(maxFrame + 1))],
  ['a compressed frame that is broken', encodeFrame(frameType.compressed, Buffer.from('hello'))],
  ['a compressed frame within one', compressed(compressed(encodeJson(1)))],
  [
    'a frame between the pieces of a compressed one',
    Buffer.concat([compressed(encodeJson('text').subarray(0, 7)), encodeJson(1)]),
  ],
])('%s is refused', (_, bytes) => {
  const decoder = new FrameDecoder(() => undefined);
  decoder.push(bytes);
  expect(() => decoded(decoder)).toThrow(expect.objectContaining({ code: 'wire-frame' }));
});

test('a compressed frame is refused where it was not allowed', () => {
  const decoder = new FrameDecoder();
  decoder.push(compressed(encodeJson('hi')));
  expect(() => decoded(decoder)).toThrow(expect.objectContaining({ code: 'wire-frame' }));
});
