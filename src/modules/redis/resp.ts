/** The protocol of Redis (RESP 2): what goes over the wire, both ways. */

/** An answer; an error of the server is a `RespError` in its place. */
export type RespValue = string | number | null | RespError | RespValue[];

/** An error that the server returned, as `WRONGPASS invalid username-password pair`. */
export class RespError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** A command as the server reads it: its words by their length, so that they may hold anything. */
export const respCommand = (words: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from(`*${words.length}\r\n`),
    ...words.map(word => Buffer.from(`$${Buffer.byteLength(word)}\r\n${word}\r\n`)),
  ]);

/** A reply, the beginning of a list, or the number of bytes needed to decide. */
type Piece =
  | { readonly next: number; readonly value: RespValue }
  | { readonly next: number; readonly count: number }
  | { readonly needed: number };

/**
 * Parses the replies of a server: takes the next bytes and returns the replies they complete. Bytes
 * that were read are not scanned again, however long a list is.
 *
 * @throws Error when this is not the protocol of Redis, or a text is not UTF-8
 */
export const respReader = (): ((chunk: Buffer) => RespValue[]) => {
  const open: { readonly items: RespValue[]; readonly count: number }[] = [];
  let unread: Buffer[] = [];
  let length = 0;
  let needed = 1;
  /** Adds a value to the open list. Returns it, or the list it completes, when none stays open. */
  const placed = (value: RespValue): RespValue | undefined => {
    const list = open.at(-1);
    if (!list) return value;
    list.items.push(value);
    if (list.items.length < list.count) return undefined;
    open.pop();
    return placed(list.items);
  };
  return chunk => {
    unread.push(chunk);
    length += chunk.length;
    if (length < needed) return [];
    const bytes = Buffer.concat(unread);
    const answers: RespValue[] = [];
    let at = 0;
    let piece = readPiece(bytes, at);
    for (; 'next' in piece; piece = readPiece(bytes, at)) {
      at = piece.next;
      if ('count' in piece) open.push({ items: [], count: piece.count });
      const whole = 'value' in piece ? placed(piece.value) : undefined;
      if (whole !== undefined) answers.push(whole);
    }
    unread = [bytes.subarray(at)];
    length = bytes.length - at;
    needed = piece.needed;
    return answers;
  };
};

/** The longest line: strings and lists send their length in one. */
const longestLine = 65_536;

const readPiece = (bytes: Buffer, start: number): Piece => {
  const end = bytes.indexOf('\r\n', start);
  const kind = String.fromCharCode(bytes[start] ?? 0);
  if (end < 0) {
    if (bytes.length - start > longestLine) throw notRedis();
    return { needed: bytes.length - start + 1 };
  }
  const line = bytes.toString('utf8', start + 1, end);
  const next = end + 2;
  if (kind === '+') return { value: line, next };
  if (kind === '-') return { value: new RespError(line), next };
  if (!':$*'.includes(kind) || !/^-?\d+$/.test(line)) throw notRedis();
  const count = Number(line);
  if (kind === ':') return { value: count, next };
  if (count < 0) return { value: null, next };
  if (kind === '*') return count === 0 ? { value: [], next } : { count, next };
  const after = next + count + 2;
  return bytes.length < after
    ? { needed: after - start }
    : { value: textOf(bytes.subarray(next, after - 2)), next: after };
};

const notRedis = (): Error => new Error('This is not an answer of Redis');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error('A value there is not text (UTF-8)');
  }
};
