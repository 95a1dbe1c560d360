import { completeMarked, parseExact } from './exact-json.ts';
import { type Frame, FrameDecoder, frameType, maxFrame, maxMessage } from './frame.ts';
import type { JsonTextReader } from './json-pieces.ts';
import { broken, type Message, readMessage } from './message.ts';
import { checkDepth, type JsonLimits, parseYielding, TooMuch } from './parse-yielding.ts';

/** A message with its number of bytes on the wire, or bytes of a transfer. */
export type Incoming = { readonly message: Message; readonly size: number } | Uint8Array;

/** Bytes that are stored outside of memory. */
export type SpooledBytes = {
  /** Bytes written so far. */
  readonly size: number;
  readonly write: (bytes: Uint8Array) => void;
  /** Reads bytes, from `begin` on, to the start of a buffer. */
  readonly readInto: (bytes: Uint8Array, begin: number, length: number) => void;
  /** Discards the stored bytes. */
  readonly close: () => void;
};

/** Limits and storage that keep long messages from filling the memory. */
export type LongMessages = {
  readonly newSpool: () => SpooledBytes;
  /** Frees the garbage of a large message. */
  readonly done: () => void;
};

/**
 * Decodes the bytes of the wire into messages. Long messages are parsed while other work continues.
 */
export class Inbox {
  readonly #frames: FrameDecoder;
  readonly #limits: JsonLimits | undefined;
  /** The received parts of a message in several parts: in memory, or in a file. */
  #parts: Uint8Array[] = [];
  readonly #spool: SpooledBytes | undefined;
  readonly #long: LongMessages | undefined;
  #size = 0;
  #isClosed = false;

  /**
   * @param limits limits of a message; none for trusted messages
   * @param onCompressed see `FrameDecoder`
   */
  constructor(limits?: JsonLimits, long?: LongMessages, onCompressed?: () => void) {
    this.#frames = new FrameDecoder(onCompressed);
    this.#limits = limits;
    this.#long = long;
    this.#spool = long?.newSpool();
  }

  /** Appends bytes from the wire. */
  push(chunk: Uint8Array): void {
    this.#frames.push(chunk);
  }

  /**
   * Returns the next message or bytes, if complete.
   *
   * @throws TsaltError `wire-frame`, `wire-protocol` for invalid data
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

  /** Discards an incomplete message. */
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

  /**
   * Keeps a part in a file: the long messages of a fleet arrive together and would fill the memory.
   */
  #keep(part: Uint8Array): void {
    try {
      if (!this.#spool || this.#parts.length > 0) this.#parts.push(part.slice());
      else this.#spool.write(part);
    } catch {
      // If there is no temporary file, it stays in memory.
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
      const said = await parseYielding(this.#whole(last, size), reader, this.#limits);
      return { message: readMessage(said), size };
    } catch (error) {
      throw why(error);
    } finally {
      if (size > large) this.#long?.done();
      setImmediate(end);
    }
  }
}

/** Parses long messages one after the other: each result is processed before the next is parsed. */
let parsing: Promise<void> = Promise.resolve();

/**
 * The message that is being parsed. Reused, since large short-lived buffers fragment the memory.
 */
let scratch = Buffer.alloc(0);

/** The part of a message that is being written to a file. */
let partScratch: Uint8Array | undefined;

/** Bytes from which on a message leaves much garbage. */
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
