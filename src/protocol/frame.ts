import { TsaltError } from './error.ts';
import { stringify } from './exact-json.ts';

/**
 * The wire's unit: `u32be length | u8 type | payload`. `length` counts the payload only.
 * Type 1 is a JSON message; type 2 is raw bytes: `u32be transfer id | bytes`; type 4 is a JSON
 * message with what plain JSON does not keep (`exact-json.ts`). Type 3 is the loader's.
 */
export const frameType = { json: 1, data: 2, marked: 4 } as const;

export type Frame = { readonly type: 1 | 2 | 4; readonly payload: Uint8Array };

/** No honest peer sends more in one frame: content is cut into chunks of at most 256 KiB. */
export const maxJsonFrame = 64 * 1024 * 1024;
export const maxDataFrame = 1024 * 1024;
const headerSize = 5;

export const encodeFrame = (type: Frame['type'], payload: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(headerSize + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length);
  frame[4] = type;
  frame.set(payload, headerSize);
  return frame;
};

export const encodeJson = (message: unknown): Uint8Array => {
  const { text, marked } = stringify(message);
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerSize + length);
  frame.writeUInt32BE(length);
  frame[4] = marked ? frameType.marked : frameType.json;
  frame.write(text, headerSize);
  return frame;
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

  /** Takes bytes and gives the frames they complete. Throws `wire-frame` on a frame no honest peer sends. */
  *push(chunk: Uint8Array): Generator<Frame> {
    if (chunk.length > 0) {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
    }
    while (this.#size >= headerSize) {
      const header = this.#peek(headerSize);
      const length = new DataView(header.buffer, header.byteOffset).getUint32(0);
      const type = header[4];
      if (type !== frameType.json && type !== frameType.data && type !== frameType.marked)
        throw badFrame(`unknown type ${type}`);
      if (length > (type === frameType.data ? maxDataFrame : maxJsonFrame) + 4)
        throw badFrame(`${length} bytes is over the limit`);
      if (this.#size < headerSize + length) return;
      const frame = this.#take(headerSize + length);
      yield { type, payload: frame.subarray(headerSize) };
    }
  }

  #peek(count: number): Uint8Array {
    const first = this.#chunks[0];
    if (first && first.length >= count) return first;
    this.#join();
    return this.#chunks[0] ?? new Uint8Array();
  }

  #take(count: number): Uint8Array {
    if ((this.#chunks[0]?.length ?? 0) < count) this.#join();
    const whole = this.#chunks[0] ?? new Uint8Array();
    const rest = whole.subarray(count);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#size -= count;
    return whole.subarray(0, count);
  }

  #join(): void {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [whole];
  }
}

const badFrame = (what: string): TsaltError =>
  new TsaltError('wire-frame', `The other side sent a malformed frame: ${what}.`, { kind: 'host' });
