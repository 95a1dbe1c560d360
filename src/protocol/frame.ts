import { TsaltError } from './error.ts';
import { stringify } from './exact-json.ts';

/**
 * The wire's unit: `u32be length | u8 type | payload`. `length` counts the payload only.
 * Type 1 is a JSON message; type 2 is raw bytes: `u32be transfer id | bytes`; type 4 is a JSON
 * message with values that plain JSON does not preserve (`exact-json.ts`); type 5 is a part of a
 * message too long for one frame, whose last part is a frame of type 1 or 4. Type 3 belongs to the
 * loader.
 */
export const frameType = { json: 1, data: 2, marked: 4, part: 5 } as const;

export type Frame = { readonly type: 1 | 2 | 4 | 5; readonly payload: Uint8Array };

/** Bytes in one frame: content is cut into chunks of 128 KiB, longer messages into parts. */
export const maxFrame = 1024 * 1024;
/** Bytes in a message of several frames. */
export const maxMessage = 64 * 1024 * 1024;
const headerSize = 5;

export const encodeFrame = (type: Frame['type'], payload: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(headerSize + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length);
  frame[4] = type;
  frame.set(payload, headerSize);
  return frame;
};

/**
 * Encodes a message as one frame, or as several if it is longer than a frame may be.
 *
 * @throws TsaltError `wire-length` if the message is too long
 */
export const encodeJson = (message: unknown): Uint8Array => {
  const { text, marked } = stringify(message);
  const type = marked ? frameType.marked : frameType.json;
  const length = Buffer.byteLength(text);
  if (length > maxMessage) throw tooLong(length);
  if (length > maxFrame) return encodeParts(text, length, type);
  const frame = Buffer.allocUnsafe(headerSize + length);
  frame.writeUInt32BE(length);
  frame[4] = type;
  frame.write(text, headerSize);
  return frame;
};

/** Writes the text at the end and moves its parts forward, so that it is copied only once. */
const encodeParts = (text: string, length: number, type: Frame['type']): Uint8Array => {
  const count = Math.ceil(length / maxFrame);
  const frames = Buffer.allocUnsafe(count * headerSize + length);
  const source = count * headerSize;
  frames.write(text, source);
  let to = 0;
  for (let at = 0; at < length; at += maxFrame) {
    const size = Math.min(maxFrame, length - at);
    frames.writeUInt32BE(size, to);
    frames[to + 4] = at + size < length ? frameType.part : type;
    frames.copyWithin(to + headerSize, source + at, source + at + size);
    to += headerSize + size;
  }
  return frames;
};

export const encodeData = (transfer: number, bytes: Uint8Array): Uint8Array => {
  const frame = Buffer.allocUnsafe(headerSize + 4 + bytes.length);
  frame.writeUInt32BE(4 + bytes.length);
  frame[4] = frameType.data;
  frame.writeUInt32BE(transfer, headerSize);
  frame.set(bytes, headerSize + 4);
  return frame;
};

/**
 * Cuts a byte stream into frames. Chunks are kept in a list and joined once per frame, so a
 * large frame in small chunks costs linear time; memory is bounded by the frame limit.
 */
export class FrameDecoder {
  #chunks: Uint8Array[] = [];
  #size = 0;

  /** Appends bytes from the wire. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /**
   * Returns the next complete frame, if any. Throws `wire-frame` for an invalid frame.
   *
   * @param scratch - Receives the payload of a part, which is then only valid until the next call.
   */
  next(scratch?: Uint8Array): Frame | undefined {
    if (this.#size < headerSize) return undefined;
    const header = this.#header();
    const length = new DataView(header.buffer, header.byteOffset).getUint32(0);
    const type = header[4];
    if (!isFrameType(type)) throw badFrame(`unknown type ${type}`);
    if (length > maxFrame + 4) throw badFrame(`${length} bytes is over the limit`);
    if (this.#size < headerSize + length) return undefined;
    this.#take(headerSize);
    return { type, payload: this.#take(length, type === frameType.part ? scratch : undefined) };
  }

  #header(): Uint8Array {
    const [first = new Uint8Array()] = this.#chunks;
    if (first.length >= headerSize) return first;
    const header = new Uint8Array(headerSize);
    let at = 0;
    for (const chunk of this.#chunks) {
      header.set(chunk.subarray(0, headerSize - at), at);
      at += chunk.length;
      if (at >= headerSize) break;
    }
    return header;
  }

  #take(count: number, into?: Uint8Array): Uint8Array {
    this.#size -= count;
    const [first] = this.#chunks;
    if (first && first.length > count) {
      this.#chunks[0] = first.subarray(count);
      return first.subarray(0, count);
    }
    const taken = into?.subarray(0, count) ?? new Uint8Array(count);
    let at = 0;
    let used = 0;
    while (at < count) {
      const chunk = this.#chunks[used] as Uint8Array;
      const part = chunk.subarray(0, count - at);
      taken.set(part, at);
      at += part.length;
      if (part.length < chunk.length) this.#chunks[used] = chunk.subarray(part.length);
      else used += 1;
    }
    this.#chunks.splice(0, used);
    return taken;
  }
}

const frameTypes = new Set<number | undefined>(Object.values(frameType));

const isFrameType = (type: number | undefined): type is Frame['type'] => frameTypes.has(type);

const tooLong = (bytes: number): TsaltError =>
  new TsaltError(
    'wire-length',
    `The answer is ${Math.ceil(bytes / megabyte)} MB long; at most ${maxMessage / megabyte} MB can be sent at once.`,
    { kind: 'host' },
  );

const megabyte = 1024 * 1024;

const badFrame = (what: string): TsaltError =>
  new TsaltError('wire-frame', `The other side sent a malformed frame: ${what}.`, { kind: 'host' });
