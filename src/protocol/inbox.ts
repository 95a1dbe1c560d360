import { completeMarked, parseExact } from './exact-json.ts';
import { type Frame, FrameDecoder, frameType, maxFrame, maxMessage } from './frame.ts';
import { checkDepth, type JsonLimits, parseInTurns, TooMuch } from './json-in-turns.ts';
import type { JsonTextReader } from './json-pieces.ts';
import { broken, type Message, readMessage } from './message.ts';

/** A message, and how many bytes it had on the wire; or bytes of a content. */
export type Incoming = { readonly message: Message; readonly size: number } | Uint8Array;

/** Bytes that wait outside of the memory. */
export type SpooledBytes = {
  /** Bytes written so far. */
  readonly size: number;
  readonly write: (bytes: Uint8Array) => void;
  /** Reads bytes, from `begin` on, to the start of a buffer. */
  readonly readInto: (bytes: Uint8Array, begin: number, length: number) => void;
  /** Forgets what was written. */
  readonly close: () => void;
};

/** Limits and storage that keep long messages from filling the memory. */
export type LongMessages = {
  readonly newSpool: () => SpooledBytes;
  /** Frees what a message left behind that took much memory. */
  readonly done: () => void;
};

/** Makes messages of the bytes on the wire. What is long is parsed while other work goes on. */
export class Inbox {
  readonly #frames = new FrameDecoder();
  readonly #limits: JsonLimits | undefined;
  /** The received parts of a message in several parts: in memory, or in a file. */
  #parts: Uint8Array[] = [];
  readonly #spool: SpooledBytes | undefined;
  readonly #long: LongMessages | undefined;
  #size = 0;
  #isClosed = false;

  /** @param limits what a message may hold; none for what one's own side sends */
  constructor(limits?: JsonLimits, long?: LongMessages) {
    this.#limits = limits;
    this.#long = long;
    this.#spool = long?.newSpool();
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
    for (let frame = this.#next(); frame; frame = this.#next()) {
      if (frame.type === frameType.data) return frame.payload;
      this.#size += frame.payload.length;
      if (this.#size > maxMessage) throw broken('a message over the limit');
      if (frame.type !== frameType.part) return this.#message(frame);
      this.#keep(frame.payload);
    }
    return undefined;
  }

  /** Forgets a message that is not whole. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  #forget(): void {
    this.#parts = [];
    this.#spool?.close();
  }

  #next(): Frame | undefined {
    if (!this.#spool) return this.#frames.next();
    partScratch ??= new Uint8Array(maxFrame + 4);
    return this.#frames.next(partScratch);
  }

  /** A fleet's long messages, which arrive together, would fill the memory. */
  #keep(part: Uint8Array): void {
    try {
      if (!this.#spool || this.#parts.length > 0) this.#parts.push(part.slice());
      else this.#spool.write(part);
    } catch {
      // Without a temporary file it stays in memory.
      this.#parts.push(part.slice());
    }
  }

  #whole(last: Uint8Array, size: number): Buffer {
    if (scratch.length < size) scratch = Buffer.allocUnsafeSlow(Math.ceil(size * 1.25));
    const whole = scratch.subarray(0, size);
    let at = this.#spool?.size ?? 0;
    this.#spool?.readInto(whole, 0, at);
    for (const part of [...this.#parts, last]) {
      whole.set(part, at);
      at += part.length;
    }
    this.#forget();
    return whole;
  }

  #message({ type, payload }: Frame): Incoming | Promise<Incoming> {
    const size = this.#size;
    const reader = type === frameType.marked ? exact : plain;
    this.#size = 0;
    try {
      if (size > payload.length) return this.#parseLong(payload, size, reader);
      if (this.#limits) checkDepth(payload, this.#limits);
      return { message: readMessage(reader.parse(decoder.decode(payload))), size };
    } catch (error) {
      throw why(error);
    }
  }

  async #parseLong(last: Uint8Array, size: number, reader: JsonTextReader): Promise<Incoming> {
    const before = parsing;
    let end: () => void = () => undefined;
    parsing = new Promise(resolve => {
      end = resolve;
    });
    await before;
    try {
      if (this.#isClosed) throw broken('a message after its end');
      const said = await parseInTurns(this.#whole(last, size), reader, this.#limits);
      return { message: readMessage(said), size };
    } catch (error) {
      throw why(error);
    } finally {
      if (size > large) this.#long?.done();
      setImmediate(end);
    }
  }
}

/** Long messages are parsed one after the other: what comes of one is dealt with before the next. */
let parsing: Promise<void> = Promise.resolve();

/** Holds the message that is parsed now: large buffers that come and go leave gaps in memory. */
let scratch = Buffer.alloc(0);

/** Holds the part of a message that goes to a file now. */
let partScratch: Uint8Array | undefined;

/** Bytes of a message that leaves much garbage behind. */
const large = 4 * 1024 * 1024;

const decoder = new TextDecoder('utf-8', { fatal: true });
const plain: JsonTextReader = {
  parse: (text: string): unknown => JSON.parse(text),
  complete: () => undefined,
};
const exact: JsonTextReader = { parse: text => parseExact(text), complete: completeMarked };

const why = (error: unknown): unknown =>
  error instanceof TooMuch
    ? broken(error.message)
    : error instanceof SyntaxError || error instanceof TypeError
      ? broken('text that is not JSON')
      : error;
