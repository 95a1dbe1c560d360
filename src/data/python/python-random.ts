const size = 624;
const middle = 397;

/**
 * Python's `random.Random(seed)`: the Mersenne Twister, so that a seed chooses the same as in Salt.
 */
export class PythonRandom {
  readonly #state = new Uint32Array(size);
  #at = size;

  /** @param seed bytes, as Python makes them from a string: the string followed by its SHA-512. */
  constructor(seed: Uint8Array) {
    const words = Math.ceil(seed.length / 4);
    const key = new Uint32Array(Math.max(1, words));
    for (let index = 0; index < seed.length; index += 1) {
      const place = seed.length - 1 - index;
      const word = place >> 2;
      key[word] = (key[word] ?? 0) | ((seed[index] ?? 0) << (8 * (place & 3)));
    }
    let length = key.length;
    while (length > 1 && key[length - 1] === 0) length -= 1;
    this.#seed(key.subarray(0, length));
  }

  #seed(key: Uint32Array): void {
    const state = this.#state;
    const get = (index: number): number => state[index] ?? 0;
    const mixed = (index: number): number => get(index - 1) ^ (get(index - 1) >>> 30);
    state[0] = 19650218;
    for (let at = 1; at < size; at += 1) state[at] = Math.imul(1812433253, mixed(at)) + at;
    let at = 1;
    const next = (): void => {
      at += 1;
      if (at < size) return;
      state[0] = get(size - 1);
      at = 1;
    };
    let from = 0;
    for (let left = Math.max(size, key.length); left > 0; left -= 1) {
      state[at] = (get(at) ^ Math.imul(mixed(at), 1664525)) + (key[from] ?? 0) + from;
      from = (from + 1) % key.length;
      next();
    }
    for (let left = size - 1; left > 0; left -= 1) {
      state[at] = (get(at) ^ Math.imul(mixed(at), 1566083941)) - at;
      next();
    }
    state[0] = 0x80000000;
  }

  /** The next 32 bits. */
  #word(): number {
    const state = this.#state;
    if (this.#at >= size) {
      for (let at = 0; at < size; at += 1) {
        const joined =
          ((state[at] ?? 0) & 0x80000000) | ((state[(at + 1) % size] ?? 0) & 0x7fffffff);
        state[at] =
          (state[(at + middle) % size] ?? 0) ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
      }
      this.#at = 0;
    }
    let word = state[this.#at] ?? 0;
    this.#at += 1;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  /** Returns an integer from 0 to below a bound, which is from 1 to 2^53. */
  below(bound: number): number {
    if (!Number.isSafeInteger(bound) || bound < 1)
      throw new RangeError(`No integer from 0 to below ${bound} exists.`);
    const bits = bound.toString(2).length;
    let found = bound;
    while (found >= bound) found = this.#bits(bits);
    return found;
  }

  /** Python's `getrandbits`: bits above 32 come from a second word. */
  #bits(count: number): number {
    if (count <= 32) return this.#word() >>> (32 - count);
    const low = this.#word();
    return (this.#word() >>> (64 - count)) * 2 ** 32 + low;
  }

  /** Python's `sample`: returns `count` items of a list, in the order in which they were drawn. */
  sample<T>(list: readonly T[], count: number): T[] {
    const pool = [...list];
    const isSmall =
      list.length <= 21 + (count > 5 ? 4 ** Math.ceil(Math.log(count * 3) / Math.log(4)) : 0);
    const chosen: T[] = [];
    const drawn = new Set<number>();
    for (let index = 0; index < count; index += 1) {
      const left = list.length - (isSmall ? index : 0);
      let at = this.below(left);
      while (!isSmall && drawn.has(at)) at = this.below(left);
      drawn.add(at);
      chosen.push(pool[at] as T);
      if (isSmall) pool[at] = pool[left - 1] as T;
    }
    return chosen;
  }
}
