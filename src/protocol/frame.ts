import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { TsaltError } from './error.ts';
import { stringify } from './exact-json.ts';

/**
 * The wire's unit: `u32be length | u8 type | payload`. `length` counts the payload only.
 * Type 1 is a JSON message; type 2 is raw bytes: `u32be transfer id | bytes`; type 4 is a JSON
 * message with values that plain JSON does not preserve (`exact-json.ts`); type 5 is a part of a
 * message too long for one frame, whose last part is a frame of type 1 or 4. Type 6 contains
 * compressed bytes of further frames (RFC 1951); an empty one contains none and allows the other side
 * to compress. Type 3 belongs to the loader.
 */
export const frameType = { json: 1, data: 2, marked: 4, part: 5, compressed: 6 } as const;

export type Frame = { readonly type: 1 | 2 | 4 | 5; readonly payload: Uint8Array };

type FrameType = Frame['type'] | typeof frameType.compressed;

/** Bytes in one frame: content is cut into chunks of 128 KiB, longer messages into parts. */
export const maxFrame = 1024 * 1024;
/** Bytes in a message of several frames. */
export const maxMessage = 64 * 1024 * 1024;
const headerSize = 5;

export const encodeFrame = (type: FrameType, payload: Uint8Array): Uint8Array => {
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

/** Bytes: fewer become hardly shorter. */
const leastCompressed = 1024;
/** Bytes: more would take other hosts' time. */
const mostCompressed = 8 * maxFrame;
/** Content of one file in such long frames is not compressed: it would limit fast links. */
const longContent = 64 * 1024;
/** Of zlib's nine: higher ones take twice the time for a twentieth of the bytes. */
const level = 3;

/**
 * Compresses frames that are written together.
 *
 * @returns frames that mean the same; the given ones if they would not become shorter
 */
export const compressFrames = (frames: Uint8Array): Uint8Array => {
  const isContent = frames[4] === frameType.data && frames.length > longContent;
  if (frames.length < leastCompressed || frames.length > mostCompressed || isContent) return frames;
  const made: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < frames.length; at += maxFrame) {
    const bytes = deflateRawSync(frames.subarray(at, at + maxFrame), { level });
    made.push(encodeFrame(frameType.compressed, bytes));
    size += headerSize + bytes.length;
  }
  return size < frames.length ? Buffer.concat(made, size) : frames;
};

/** Returns the first frames for a side that may compress its own ones from now on. */
export const beginCompression = (frames: Uint8Array): Uint8Array => {
  const compressed = compressFrames(frames);
  return compressed === frames
    ? Buffer.concat([encodeFrame(frameType.compressed, new Uint8Array()), frames])
    : compressed;
};

/**
 * Cuts a byte stream into frames. Chunks are kept in a list and joined once per frame, so a
 * large frame in small chunks costs linear time; memory is bounded by the frame limit.
 */
export class FrameDecoder {
  #chunks: Uint8Array[] = [];
  #size = 0;
  readonly #onCompressed: (() => void) | undefined;
  /** Decodes the content of compressed frames. */
  #inner: FrameDecoder | undefined;

  /** @param onCompressed called for each compressed frame; without it they are refused */
  constructor(onCompressed?: () => void) {
    this.#onCompressed = onCompressed;
  }

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
    for (;;) {
      const inner = this.#inner?.next(scratch);
      if (inner) return inner;
      if (this.#size < headerSize) return undefined;
      const header = this.#header();
      const length = new DataView(header.buffer, header.byteOffset).getUint32(0);
      const type = header[4];
      if (!isFrameType(type)) throw badFrame(`unknown type ${type}`);
      if (length > maxFrame + 4) throw badFrame(`${length} bytes is over the limit`);
      if (this.#size < headerSize + length) return undefined;
      this.#take(headerSize);
      const payload = this.#take(length, type === frameType.part ? scratch : undefined);
      if (type === frameType.compressed) this.#decompress(payload);
      else if (this.#inner?.hasBytes) throw badFrame('one within compressed ones');
      else return { type, payload };
    }
  }

  /** Whether there is a part of a frame. */
  get hasBytes(): boolean {
    return this.#size > 0;
  }

  #decompress(payload: Uint8Array): void {
    if (!this.#onCompressed) throw badFrame('a compressed one that was not allowed');
    this.#onCompressed();
    if (payload.length === 0) return;
    this.#inner ??= new FrameDecoder();
    try {
      this.#inner.push(inflateRawSync(payload, { maxOutputLength: maxFrame }));
    } catch {
      throw badFrame('a compressed one that is broken or too long');
    }
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

const isFrameType = (type: number | undefined): type is FrameType => frameTypes.has(type);

const tooLong = (bytes: number): TsaltError =>
  new TsaltError(
    'wire-length',
    `The answer is ${Math.ceil(bytes / megabyte)} MB long; at most ${maxMessage / megabyte} MB can be sent at once.`,
    { kind: 'host' },
  );

const megabyte = 1024 * 1024;

const badFrame = (what: string): TsaltError =>
  new TsaltError('wire-frame', `The other side sent a malformed frame: ${what}.`, { kind: 'host' });
