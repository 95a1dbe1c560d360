import { JsonPieces, type JsonTextReader } from './json-pieces.ts';

/** Limits for untrusted JSON: number of values, keys per dict, and depth. */
export type JsonLimits = {
  readonly values: number;
  readonly keys: number;
  readonly depth: number;
};

/** Bytes that are parsed in one piece. */
const pieceSize = 256 * 1024;
/** A string longer than that is a piece of its own, and parsed in several. */
const longString = 512 * 1024;
/** Milliseconds after which other work gets its turn. */
const turn = 15;

/** Yields to other work when the time slice is used up. */
class Turns {
  #began = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.#began < turn) return;
    await new Promise(resolve => setImmediate(resolve));
    this.#began = performance.now();
  }
}

/**
 * Parses long JSON as `JSON.parse` does, which needs the whole event loop until it is done: cuts it
 * at commas into pieces, each for `JSON.parse`, and lets other work go on between them.
 *
 * @param bytes UTF-8
 * @param reader `JSON.parse`, or what reads JSON with marks
 * @param limits none for data from the own side
 * @returns the value
 * @throws SyntaxError for invalid JSON; {@link TooMuch} for more than the limits allow
 */
export const parseInTurns = async (
  bytes: Buffer,
  reader: JsonTextReader,
  limits?: JsonLimits,
): Promise<unknown> => {
  const turns = new Turns();
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

/** Parses a long string by parts, none of which begins or ends within a character or an escape. */
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
 * Whether short JSON keeps within a depth. What is nested deeper than anybody writes exhausts the
 * stack of whoever walks it.
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
      // An escape is rare: only then the string is looked at closely.
      at = end !== -1 && bytes[end - 1] !== backslash ? end : endOfString(bytes, at);
    } else if (byte === colon) count.key();
    else if (byte === openList || byte === openDict) count.open();
    else if (byte === closeList || byte === closeDict) count.close();
  }
};

/**
 * Whether a payload cannot exceed the limits, without telling its strings from the rest: it has
 * fewer values and keys than bytes, and is nested no deeper than it has opening brackets.
 */
const isWithin = (payload: Uint8Array, { values, keys, depth }: JsonLimits): boolean => {
  if (payload.length > values || payload.length > keys) return false;
  let left = depth;
  for (let at = 0; at < payload.length; at += 1) {
    // Both brackets differ from each other in this bit only.
    if (((payload[at] ?? 0) | 0x20) !== openDict) continue;
    if (left === 0) return false;
    left -= 1;
  }
  return true;
};

/** More values, or nested deeper, than a stranger may send. */
export class TooMuch extends Error {}

class Count {
  readonly #limits: JsonLimits | undefined;
  #values = 0;
  /** Keys of the dicts that are open; a list has none. */
  readonly #keys: number[] = [];

  constructor(limits: JsonLimits | undefined) {
    this.#limits = limits;
  }

  value(): void {
    this.#values += 1;
    if (this.#limits && this.#values > this.#limits.values)
      throw new TooMuch(`more than ${this.#limits.values} values in one message`);
  }

  /** Walking through a dict of very many keys takes long at once. */
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

/** Where the string that begins at `start` has its closing quote. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1;
    while (bytes[before] === backslash) before -= 1;
    if ((at - 1 - before) % 2 === 0) return at;
  }
  throw new SyntaxError('a string without its end');
};
