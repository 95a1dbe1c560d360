import { completeMarked, parseExact } from './exact-json.ts';
import { type Frame, FrameDecoder, frameType, maxMessage } from './frame.ts';
import { checkDepth, type JsonLimits, parseInTurns, TooMuch } from './json-in-turns.ts';
import type { JsonReader } from './json-pieces.ts';
import { broken, type Message, readMessage } from './message.ts';

/** A message, and how many bytes it had on the wire; or bytes of a content. */
export type Incoming = { readonly message: Message; readonly size: number } | Uint8Array;

/** Makes messages of the bytes on the wire. What is long is parsed while other work goes on. */
export class Inbox {
  readonly #frames = new FrameDecoder();
  readonly #limits: JsonLimits | undefined;
  /** What came of a message in several parts. */
  #parts: Uint8Array[] = [];
  #size = 0;

  /** @param limits what a message may hold; none for what one's own side sends */
  constructor(limits?: JsonLimits) {
    this.#limits = limits;
  }

  /** Takes bytes from the wire. */
  push(chunk: Uint8Array): void {
    this.#frames.push(chunk);
  }

  /**
   * What comes next, if it is there whole.
   *
   * @throws TsaltError `wire-frame`, `wire-protocol` for what no honest peer sends
   */
  next(): Incoming | Promise<Incoming> | undefined {
    for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) {
      if (frame.type === frameType.data) return frame.payload;
      this.#size += frame.payload.length;
      if (this.#size > maxMessage) throw broken('a message over the limit');
      if (frame.type !== frameType.part) return this.#message(frame);
      this.#parts.push(frame.payload);
    }
    return undefined;
  }

  #message({ type, payload }: Frame): Incoming | Promise<Incoming> {
    const [parts, size] = [this.#parts, this.#size];
    const reader = type === frameType.marked ? exact : plain;
    this.#parts = [];
    this.#size = 0;
    try {
      if (parts.length > 0) return this.#long(Buffer.concat([...parts, payload]), reader);
      if (this.#limits) checkDepth(payload, this.#limits);
      return { message: readMessage(reader.parse(decoder.decode(payload))), size };
    } catch (error) {
      throw why(error);
    }
  }

  async #long(bytes: Buffer, reader: JsonReader): Promise<Incoming> {
    try {
      const said = await parseInTurns(bytes, reader, this.#limits);
      return { message: readMessage(said), size: bytes.length };
    } catch (error) {
      throw why(error);
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const plain: JsonReader = {
  parse: (text: string): unknown => JSON.parse(text),
  complete: () => undefined,
};
const exact: JsonReader = { parse: parseExact, complete: completeMarked };

const why = (error: unknown): unknown =>
  error instanceof TooMuch
    ? broken(error.message)
    : error instanceof SyntaxError || error instanceof TypeError
      ? broken('text that is not JSON')
      : error;
