/** ASN.1 in DER, as X.509 needs it: written from parts, read into a tree. */

const concat = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

const lengthOf = (size: number): Buffer => {
  if (size < 0x80) return Buffer.from([size]);
  const bytes = Buffer.from(
    size.toString(16).padStart(2 * Math.ceil(size.toString(16).length / 2), '0'),
    'hex',
  );
  return concat([Buffer.from([0x80 | bytes.length]), bytes]);
};

/** Any value by its tag byte. */
export const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = concat(parts);
  return concat([Buffer.from([tag]), lengthOf(body.length), body]);
};

export const sequence = (...parts: Uint8Array[]): Buffer => tagged(0x30, ...parts);
export const setOf = (...parts: Uint8Array[]): Buffer => tagged(0x31, ...parts);
export const octets = (body: Uint8Array): Buffer => tagged(0x04, body);
export const bits = (body: Uint8Array, unused = 0): Buffer =>
  tagged(0x03, Buffer.from([unused]), body);
export const truth = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
export const nothing = tagged(0x05);
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text, 'utf8'));
export const printable = (text: string): Buffer => tagged(0x13, Buffer.from(text, 'latin1'));
export const ia5 = (text: string): Buffer => tagged(0x16, Buffer.from(text, 'latin1'));
export const enumerated = (value: number): Buffer => tagged(0x0a, Buffer.from([value]));
/** `[n] EXPLICIT`, around another value. */
export const explicit = (number: number, ...parts: Uint8Array[]): Buffer =>
  tagged(0xa0 | number, ...parts);
/** `[n] IMPLICIT` of a plain value: its body under another tag. */
export const implicit = (number: number, body: Uint8Array): Buffer => tagged(0x80 | number, body);

/** A whole number that is not negative. */
export const integer = (value: bigint | number): Buffer => {
  const hex = BigInt(value).toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return tagged(0x02, (bytes[0] ?? 0) & 0x80 ? concat([Buffer.from([0]), bytes]) : bytes);
};

export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap(number => {
    const digits = [number & 0x7f];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return tagged(0x06, Buffer.from(bytes));
};

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 has it. */
export const time = (date: Date): Buffer => {
  const text = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  const year = date.getUTCFullYear();
  return year >= 1950 && year < 2050
    ? tagged(0x17, Buffer.from(text.slice(2), 'latin1'))
    : tagged(0x18, Buffer.from(text, 'latin1'));
};

/** One value as it was read. */
export type Der = {
  readonly tag: number;
  /** Its content, without tag and length. */
  readonly body: Buffer;
  /** All of it. */
  readonly raw: Buffer;
  /** The values in it, where it is made of such. */
  readonly children: readonly Der[];
};

/**
 * Reads one value.
 *
 * @throws Error if the bytes are not DER
 */
export const readDer = (bytes: Buffer, depth = 0): Der => {
  const [value, size] = readAt(bytes, 0, depth);
  if (size !== bytes.length) throw new Error('there is something after its end');
  return value;
};

const readAt = (bytes: Buffer, at: number, depth: number): [Der, number] => {
  if (depth > 40) throw new Error('it is nested too deep');
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new Error('it ends too early');
  let start = at + 2;
  let size = first;
  if (first & 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new Error('it has a length that DER does not know');
    size = bytes.readUIntBE(start, count);
    start += count;
  }
  const end = start + size;
  if (end > bytes.length) throw new Error('it ends too early');
  const body = bytes.subarray(start, end);
  const children: Der[] = [];
  if (tag & 0x20)
    for (let next = 0; next < body.length; ) {
      const [child, after] = readAt(body, next, depth + 1);
      children.push(child);
      next = after;
    }
  return [{ tag, body, raw: bytes.subarray(at, end), children }, end];
};

export const oidText = ({ body }: Der): string => {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of body) {
    number = number * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [head = 0, ...rest] = numbers;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...rest].join('.');
};

export const integerOf = ({ body }: Der): bigint => BigInt(`0x${body.toString('hex') || '0'}`);

export const timeOf = ({ tag, body }: Der): Date => {
  const text = body.toString('latin1');
  const full = tag === 0x17 ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  return new Date(full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
};

/** The text of any of ASN.1's string types. */
export const derText = ({ tag, body }: Der): string =>
  tag === 0x1e
    ? Buffer.from(body).swap16().toString('utf16le')
    : body.toString(tag === 0x0c ? 'utf8' : 'latin1');
