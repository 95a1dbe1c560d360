import type { DataKey } from '../data/values/value.ts';

const longestShared = 20;

/** Keeps one list of keys for mappings with the same keys, as the records of a list have. */
export class SharedKeys {
  /** The keys of the last mapping of each size. */
  readonly #last: (readonly DataKey[])[] = [];

  /** Returns the keys of an earlier mapping if they are equal. */
  of(keys: readonly DataKey[]): readonly DataKey[] {
    if (keys.length > longestShared) return keys;
    const last = this.#last[keys.length];
    if (last?.every((key, index) => Object.is(key, keys[index]))) return last;
    this.#last[keys.length] = keys;
    return keys;
  }
}
