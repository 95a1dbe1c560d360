import { type Data, Float, isDict } from '../values/value.ts';

/** Encodes data as MessagePack, each value in its shortest form, as Python's `msgpack` does. */
export const dumpMsgpack = (data: Data): Uint8Array => {
  const parts = pack(data);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

const pack = (value: Data): Uint8Array[] => {
  if (value === null) return [Uint8Array.of(0xc0)];
  if (typeof value === 'boolean') return [Uint8Array.of(value ? 0xc3 : 0xc2)];
  if (typeof value === 'string') {
    const bytes = new TextEncoder().encode(value);
    return [head(bytes.length, textForms), bytes];
  }
  if (Array.isArray(value)) return [head(value.length, listForms), ...value.flatMap(pack)];
  if (isDict(value))
    return [
      head(value.size, dictForms),
      ...[...value].flatMap(([key, item]) => [...pack(key), ...pack(item)]),
    ];
  if (value instanceof Float || (typeof value === 'number' && !Number.isInteger(value)))
    return [float(Number(value))];
  return [integer(BigInt(value))];
};

type Forms = { readonly short: number; readonly below: number; readonly codes: readonly number[] };

/** Codes of lengths: inside the code itself, or in the following 8, 16 or 32 bits. */
const textForms: Forms = { short: 0xa0, below: 32, codes: [0xd9, 0xda, 0xdb] };
const listForms: Forms = { short: 0x90, below: 16, codes: [0, 0xdc, 0xdd] };
const dictForms: Forms = { short: 0x80, below: 16, codes: [0, 0xde, 0xdf] };

const head = (length: number, { short, below, codes: [in8 = 0, in16 = 0, in32 = 0] }: Forms) => {
  if (length < below) return Uint8Array.of(short | length);
  if (in8 !== 0 && length < 2 ** 8) return coded(in8, 1, BigInt(length));
  return length < 2 ** 16 ? coded(in16, 2, BigInt(length)) : coded(in32, 4, BigInt(length));
};

const integer = (value: bigint): Uint8Array => {
  if (value >= -32n && value < 128n) return Uint8Array.of(Number(value & 0xffn));
  const first = value < 0n ? 0xd0 : 0xcc;
  for (const [step, size] of [1, 2, 4, 8].entries()) {
    const bits = BigInt(8 * size);
    const fits = value < 0n ? value >= -(1n << (bits - 1n)) : value < 1n << bits;
    if (fits) return coded(first + step, size, value);
  }
  throw new TypeError(`MessagePack has no integer as large as ${value}`);
};

const coded = (code: number, size: number, value: bigint): Uint8Array =>
  Uint8Array.of(
    code,
    ...Array.from({ length: size }, (_, index) =>
      Number((value >> BigInt(8 * (size - 1 - index))) & 0xffn),
    ),
  );

const float = (value: number): Uint8Array => {
  const bytes = new Uint8Array(9);
  bytes[0] = 0xcb;
  new DataView(bytes.buffer).setFloat64(1, value);
  return bytes;
};
