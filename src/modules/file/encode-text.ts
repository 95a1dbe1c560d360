import { SaltInvocationError } from '../api.ts';

/**
 * Encodes text in any encoding that the platform can decode. Characters that it lacks are an error
 * (`strict`), become `?` (`replace`), or are left out (`ignore`).
 */
export const encodeText = (text: string, encoding = 'utf-8', errors = 'strict'): Buffer => {
  const name = encoding.toLowerCase().replaceAll('_', '-');
  if (name === 'utf-8' || name === 'utf8') return Buffer.from(text);
  if (name === 'utf-16-le' || name === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (name === 'utf-16')
    return Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(text, 'utf16le')]);
  if (name === 'utf-16-be' || name === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  const table = singleByteTable(name, encoding);
  return Buffer.from(
    [...text].flatMap(character => table.get(character) ?? unknown(character, encoding, errors)),
  );
};

const unknown = (character: string, encoding: string, errors: string): number[] => {
  if (errors === 'ignore') return [];
  if (errors === 'replace') return [0x3f];
  throw new SaltInvocationError(`'${encoding}' codec can't encode character '${character}'`);
};

/** Decodes bytes in any encoding that the platform knows. */
export const decodeText = (bytes: Buffer, encoding = 'utf-8'): string => {
  const name = encoding.toLowerCase().replaceAll('_', '-');
  if (isLatin1(name)) return bytes.toString('latin1');
  try {
    const label = name.replace(/^cp(\d)/, 'windows-$1').replace(/^utf-16-/, 'utf-16');
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new SaltInvocationError(
      error instanceof RangeError
        ? `unknown encoding: ${encoding}`
        : `'${encoding}' codec can't decode what the file has`,
    );
  }
};

const isLatin1 = (name: string): boolean =>
  ['latin-1', 'latin1', 'iso-8859-1', 'iso8859-1'].includes(name);

const singleByteTable = (name: string, given: string): Map<string, number> => {
  if (name === 'ascii' || name === 'us-ascii')
    return tableOf(128, byte => String.fromCharCode(byte));
  if (isLatin1(name)) return tableOf(256, byte => String.fromCharCode(byte));
  try {
    const decoder = new TextDecoder(name.replace(/^cp(\d)/, 'windows-$1'));
    if (decoder.encoding.startsWith('utf') || decoder.decode(Buffer.of(0xa4)).length !== 1)
      throw new RangeError('not a single-byte encoding');
    return tableOf(256, byte => decoder.decode(Buffer.of(byte)));
  } catch {
    throw new SaltInvocationError(`unknown encoding: ${given}`);
  }
};

const tableOf = (size: number, character: (byte: number) => string): Map<string, number> =>
  new Map(Array.from({ length: size }, (_, byte) => [character(byte), byte]));
