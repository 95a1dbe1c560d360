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
const lengthBytes = 4;

/** Packs the items' bytes; `undefined` for one that needs a request of its own. */
export const packOne = (bytes: Uint8Array | undefined): readonly Uint8Array[] => {
  const head = new Uint8Array(lengthBytes);
  new DataView(head.buffer).setUint32(0, bytes?.length ?? leftOut);
  return bytes ? [head, bytes] : [head];
};

/** Splits what `packOne` made, in whichever pieces it arrives. */
export class ManyUnpacker {
  readonly #take: (bytes: Buffer | undefined) => void;
  readonly #head = Buffer.alloc(lengthBytes);
  #target: Buffer = this.#head;
  #filled = 0;

  /** @param take is called with each item's bytes, in order; undefined for one that is left out */
  constructor(take: (bytes: Buffer | undefined) => void) {
    this.#take = take;
  }

  /** @throws Error an item is longer than `largestOfMany` */
  push = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#target.length - this.#filled);
      this.#target.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#target.length) this.#next();
    }
  };

  #next(): void {
    this.#filled = 0;
    if (this.#target !== this.#head) {
      const bytes = this.#target;
      this.#target = this.#head;
      this.#take(bytes);
      return;
    }
    const length = this.#head.readUInt32BE(0);
    if (length === leftOut) this.#take(undefined);
    else if (length === 0) this.#take(Buffer.alloc(0));
    else if (length > largestOfMany) throw new Error(`a file of ${length} bytes among small ones`);
    // Not from Node's pool, which a few bytes of one file would keep in memory.
    else this.#target = Buffer.allocUnsafeSlow(length);
  }
}
