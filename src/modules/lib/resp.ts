/** The protocol of Redis (RESP 2): what goes over the wire, both ways. */

/** An answer; an error of the server is a `RespError` in its place. */
export type RespValue = string | number | null | RespError | RespValue[];

/** What the server says instead of an answer, as `WRONGPASS invalid username-password pair`. */
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

/**
 * The first answer of what has come, and where the next begins; undefined while it is not whole.
 *
 * @throws Error when this is not the protocol of Redis, or a text is not UTF-8
 */
export const readResp = (
  bytes: Buffer,
  start = 0,
): { readonly value: RespValue; readonly next: number } | undefined => {
  const end = bytes.indexOf('\r\n', start);
  if (end < 0) return undefined;
  const line = bytes.toString('utf8', start + 1, end);
  const next = end + 2;
  const kind = String.fromCharCode(bytes[start] ?? 0);
  if (kind === '+') return { value: line, next };
  if (kind === '-') return { value: new RespError(line), next };
  if (!':$*'.includes(kind) || !/^-?\d+$/.test(line))
    throw new Error('This is not an answer of Redis');
  const count = Number(line);
  if (kind === ':') return { value: count, next };
  if (count < 0) return { value: null, next };
  return kind === '$' ? readText(bytes, next, count) : readList(bytes, next, count);
};

const readText = (bytes: Buffer, start: number, length: number) =>
  bytes.length < start + length + 2
    ? undefined
    : { value: textOf(bytes.subarray(start, start + length)), next: start + length + 2 };

const textOf = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('A value there is not text (UTF-8)');
  }
};

const readList = (bytes: Buffer, start: number, count: number) => {
  const value: RespValue[] = [];
  let next = start;
  while (value.length < count) {
    const item = readResp(bytes, next);
    if (!item) return undefined;
    value.push(item.value);
    next = item.next;
  }
  return { value, next };
};
