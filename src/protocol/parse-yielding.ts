import { JsonPieces, type JsonTextReader } from './json-pieces.ts';
import { Turns } from './turns.ts';

/** Limits for untrusted JSON: number of values, keys per dict, and depth. */
export type JsonLimits = {
  readonly values: number;
  readonly keys: number;
  readonly depth: number;
};

/** Bytes that are parsed in one piece. */
const pieceSize = 256 * 1024;
/** Longer strings are parsed separately, in several pieces. */
const longString = 512 * 1024;
/** Milliseconds after which other work may continue. */
const turn = 15;

/**
 * Parses long JSON with the same result as `JSON.parse`, which would block the event loop. Cuts the
 * text at commas into pieces, parses each with `JSON.parse`, and yields between them.
 *
 * @param bytes UTF-8
 * @param reader `JSON.parse`, or a parser of JSON with marks
 * @param limits none for trusted data
 * @returns the value
 * @throws SyntaxError for invalid JSON; {@link TooMuch} for more than the limits allow
 */
export const parseYielding = async (
  bytes: Buffer,
  reader: JsonTextReader,
  limits?: JsonLimits,
): Promise<unknown> => {
  const turns = new Turns(turn);
  const count = new Count(limits);
  const pieces = new JsonPieces(bytes, reader);
  let paused = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      const end = endOfString(bytes, at);
      if (end - at > longString && !pieces.isKey()) {
        pieces.build();
        pieces.attach(await parseString(bytes, at, end, turns), at, end + 1);
      }
      at = end;
    } else if (byte === comma) {
      count.value();
      pieces.comma(at);
      if (pieces.waiting(at) > pieceSize) pieces.build();
    } else if (byte === colon) {
      count.key();
      pieces.colon(at);
    } else if (byte === openList || byte === openDict) {
      count.open();
      pieces.open(at, byte === openList);
    } else if (byte === closeList || byte === closeDict) {
      count.close();
      pieces.close(at, byte === closeList);
    }
    if (at - paused > pieceSize) {
      paused = at;
      await turns.pause();
    }
  }
  return pieces.end(bytes.length);
};

/** Parses a long string in parts, none of which cuts a character or an escape. */
const parseString = async (
  bytes: Buffer,
  start: number,
  end: number,
  turns: Turns,
): Promise<string> => {
  let text = '';
  for (let from = start + 1; from < end; ) {
    const to = endOfPart(bytes, from, end);
    text += JSON.parse(`"${decoder.decode(bytes.subarray(from, to))}"`);
    from = to;
    await turns.pause();
  }
  return text;
};

const endOfPart = (bytes: Buffer, from: number, end: number): number => {
  const limit = from + pieceSize;
  let at = from;
  while (at < limit && at < end)
    if (bytes[at] === backslash) at += bytes[at + 1] === letterU ? 6 : 2;
    else at += 1;
  while (at < end && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return Math.min(at, end);
};

/**
 * Checks the depth of short JSON. Extremely deep nesting would exhaust the stack of code that walks
 * through the value.
 *
 * @throws TooMuch
 */
export const checkDepth = (payload: Uint8Array, limits: JsonLimits): void => {
  if (payload.length <= limits.depth || isWithin(payload, limits)) return;
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  const count = new Count(limits);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      const end = bytes.indexOf(quote, at + 1);
      // Escapes are rare, so only a quote after a backslash is examined closely.
      at = end !== -1 && bytes[end - 1] !== backslash ? end : endOfString(bytes, at);
    } else if (byte === colon) count.key();
    else if (byte === openList || byte === openDict) count.open();
    else if (byte === closeList || byte === closeDict) count.close();
  }
};

/**
 * Whether a payload certainly keeps the limits, without parsing strings: it has fewer values and
 * keys than bytes, and is nested no deeper than its number of opening brackets.
 */
const isWithin = (payload: Uint8Array, { values, keys, depth }: JsonLimits): boolean => {
  if (payload.length > values || payload.length > keys) return false;
  let left = depth;
  for (let at = 0; at < payload.length; at += 1) {
    // The two kinds of brackets differ in this bit only.
    if (((payload[at] ?? 0) | 0x20) !== openDict) continue;
    if (left === 0) return false;
    left -= 1;
  }
  return true;
};

/** The data exceed the limits for untrusted JSON. */
export class TooMuch extends Error {}

class Count {
  readonly #limits: JsonLimits | undefined;
  #values = 0;
  /** Keys of the open dicts; a list has none. */
  readonly #keys: number[] = [];

  constructor(limits: JsonLimits | undefined) {
    this.#limits = limits;
  }

  value(): void {
    this.#values += 1;
    if (this.#limits && this.#values > this.#limits.values)
      throw new TooMuch(`more than ${this.#limits.values} values in one message`);
  }

  /** Counts keys: walking through a dict with very many keys would block for long. */
  key(): void {
    this.value();
    const keys = (this.#keys.pop() ?? 0) + 1;
    this.#keys.push(keys);
    if (this.#limits && keys > this.#limits.keys)
      throw new TooMuch(`more than ${this.#limits.keys} keys in one dict`);
  }

  open(): void {
    this.value();
    this.#keys.push(0);
    if (this.#limits && this.#keys.length > this.#limits.depth)
      throw new TooMuch(`data nested deeper than ${this.#limits.depth} levels`);
  }

  close(): void {
    this.#keys.pop();
  }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const letterU = 0x75;
const [openList, closeList, openDict, closeDict] = [0x5b, 0x5d, 0x7b, 0x7d];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Finds the closing quote of the string that begins at `start`. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1;
    while (bytes[before] === backslash) before -= 1;
    if ((at - 1 - before) % 2 === 0) return at;
  }
  throw new SyntaxError('a string without its end');
};
