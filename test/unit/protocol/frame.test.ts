import { expect, test } from 'vitest';
import { encodeJson, FrameDecoder, frameType, maxFrame } from '../../../src/protocol/frame.ts';

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
