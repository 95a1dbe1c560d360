/**
 * Request `file.getMany`: a run over a slow link gets all of its small files in one round trip, and
 * neither side has a message for each of them. The content contains, for each item in order, four
 * bytes of its length and then its bytes. `leftOut` in place of a length says that the item needs a
 * request of its own, which also reports what is wrong with it.
 */

/** A file by path and saltenv, or a template that is rendered ahead, by its key (`file.render`). */
export type NamedFile = readonly [path: string, saltenv: string] | readonly [key: string];

/** Larger files have requests of their own. */
export const largestOfMany = 64 * 1024;

/** Items of one request. */
export const mostOfMany = 256;

const leftOut = 0xffff_ffff;
/** Bytes before those of an item. */
export const lengthBytes = 4;

/**
 * Writes the length of an item before its bytes, which begin `lengthBytes` after `at`.
 *
 * @param count of its bytes; undefined for an item that needs a request of its own
 * @returns where the next item begins
 */
export const packLength = (into: Buffer, at: number, count: number | undefined): number => {
  into.writeUInt32BE(count ?? leftOut, at);
  return at + lengthBytes + (count ?? 0);
};

/** Splits what was packed, in whichever pieces it arrives. */
export class ManyUnpacker {
  readonly #take: (bytes: Buffer | undefined) => void;
  readonly #isUsedAtOnce: boolean;
  readonly #head = Buffer.alloc(lengthBytes);
  /** Bytes of the head, or of the item, that have arrived. */
  #filled = 0;
  /** The length of the item that arrives; undefined while its head does. */
  #length: number | undefined;
  #item: Buffer | undefined;

  /**
   * @param take is called with each item's bytes, in order; undefined for one that is left out
   * @param isUsedAtOnce the bytes may be others once `take` has returned: most are not copied then
   */
  constructor(take: (bytes: Buffer | undefined) => void, isUsedAtOnce = false) {
    this.#take = take;
    this.#isUsedAtOnce = isUsedAtOnce;
  }

  /** @throws Error an item is longer than `largestOfMany` */
  push = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; )
      at += this.#length === undefined ? this.#addHead(bytes, at) : this.#add(bytes, at);
  };

  #addHead(bytes: Uint8Array, at: number): number {
    const count = Math.min(lengthBytes - this.#filled, bytes.length - at);
    for (let index = 0; index < count; index += 1)
      this.#head[this.#filled + index] = bytes[at + index] ?? 0;
    this.#filled += count;
    if (this.#filled < lengthBytes) return count;
    this.#filled = 0;
    const length = this.#head.readUInt32BE(0);
    if (length === leftOut) this.#take(undefined);
    else if (length === 0) this.#take(Buffer.alloc(0));
    else if (length > largestOfMany) throw new Error(`a file of ${length} bytes among small ones`);
    else this.#length = length;
    return count;
  }

  #add(bytes: Uint8Array, at: number): number {
    const length = this.#length ?? 0;
    const count = Math.min(length - this.#filled, bytes.length - at);
    if (count === length && this.#isUsedAtOnce) {
      this.#length = undefined;
      this.#take(Buffer.from(bytes.buffer, bytes.byteOffset + at, length));
      return count;
    }
    // Not from Node's pool, which a few bytes of one file would keep in memory.
    this.#item ??= Buffer.allocUnsafeSlow(length);
    this.#item.set(bytes.subarray(at, at + count), this.#filled);
    this.#filled += count;
    if (this.#filled < length) return count;
    const item = this.#item;
    [this.#filled, this.#length, this.#item] = [0, undefined, undefined];
    this.#take(item);
    return count;
  }
}
