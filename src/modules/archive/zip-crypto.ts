import { CommandExecutionError } from '../api.ts';

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

const crcStep = (crc: number, byte: number): number =>
  ((crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)) >>> 0;

/** The CRC-32 of some bytes, as zip archives keep it. */
export const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcStep(crc, byte);
  return (crc ^ 0xffffffff) >>> 0;
};

/**
 * Decrypts a member of a zip archive (PKWARE's traditional cipher). `check` is the byte that the
 * twelve bytes before the data must end with.
 *
 * @throws CommandExecutionError if the password is wrong
 */
export const decryptZip = (data: Buffer, password: string, check: number): Buffer => {
  const keys = new Keys(Buffer.from(password, 'utf8'));
  const plain = Buffer.alloc(data.length);
  for (const [at, byte] of data.entries()) plain[at] = keys.take(byte);
  if (plain.length < 12 || plain[11] !== check)
    throw new CommandExecutionError('The password of the archive is another');
  return plain.subarray(12);
};

class Keys {
  #zero = 0x12345678;
  #one = 0x23456789;
  #two = 0x34567890;

  constructor(password: Uint8Array) {
    for (const byte of password) this.#mix(byte);
  }

  /** The plain byte of an encrypted one. */
  take(byte: number): number {
    const mask = (this.#two | 2) & 0xffff;
    const plain = byte ^ ((Math.imul(mask, mask ^ 1) >>> 8) & 0xff);
    this.#mix(plain);
    return plain;
  }

  #mix(byte: number): void {
    this.#zero = crcStep(this.#zero, byte);
    this.#one = (Math.imul(this.#one + (this.#zero & 0xff), 0x08088405) + 1) >>> 0;
    this.#two = crcStep(this.#two, this.#one >>> 24);
  }
}
