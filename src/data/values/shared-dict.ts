import { isOrdered, markOrdered } from './ordered.ts';
import { copyPositions } from './position.ts';
import { type Data, type DataKey, type Dict, Float } from './value.ts';

/**
 * Copies data that several hosts share. Dictionaries are copied level by level as their values are
 * read, so that a large pillar of which a host uses little takes little memory per host. Parts that
 * occur twice stay shared within the copy.
 */
export const copyOnUse = (data: Data): Data => new Copier().copy(data);

/** Returns the entries of a dict for code that changes none of their values. */
export const entriesToRead = (dict: Dict): Iterable<[DataKey, Data]> =>
  dict instanceof SharedDict ? dict.entriesToRead() : dict;

/** Returns a value of a dict for code that does not change it. */
export const valueToRead = (dict: Dict, key: DataKey): Data | undefined =>
  dict instanceof SharedDict ? dict.valueToRead(key) : dict.get(key);

/**
 * Makes a dictionary with the same entries; it is ordered if `like` is. The copy of a shared
 * dictionary copies its values on use, too.
 */
export const copyDict = (dict: Dict, like: Dict = dict): Dict => {
  const copy = dict instanceof SharedDict ? dict.copy() : new Map(dict);
  return isOrdered(like) ? markOrdered(copy) : copy;
};

class Copier {
  readonly #known = new WeakMap<object, Data>();

  copy(data: Data): Data {
    if (typeof data !== 'object' || data === null || data instanceof Float) return data;
    const known = this.#known.get(data);
    if (known !== undefined) return known;
    if (!Array.isArray(data)) return this.#keep(data, new SharedDict(data, this));
    const list = new Array<Data>(data.length);
    this.#keep(data, list);
    for (const [index, item] of data.entries()) list[index] = this.copy(item);
    return list;
  }

  #keep<Copy extends Data[] | Dict>(data: Data[] | Dict, copy: Copy): Copy {
    this.#known.set(data, copy);
    copyPositions(data, copy);
    if (isOrdered(data)) markOrdered(copy as Dict);
    return copy;
  }
}

/** Reads from another dict, which it never changes. Its own entries are those that differ. */
class SharedDict extends Map<DataKey, Data> {
  readonly #below: Dict;
  readonly #copier: Copier;
  #gone: Set<DataKey> | undefined;
  /** The number of own entries whose keys are not those of `#below`, or were deleted there. */
  #added = 0;

  constructor(below: Dict, copier: Copier) {
    super();
    this.#below = below;
    this.#copier = copier;
  }

  copy(): Dict {
    const copy = new SharedDict(this.#below, this.#copier);
    for (const [key, value] of super.entries()) copy.#put(key, value);
    copy.#added = this.#added;
    copy.#gone = this.#gone && new Set(this.#gone);
    return copy;
  }

  override get(key: DataKey): Data | undefined {
    const own = super.get(key);
    if (own !== undefined || !this.#isBelow(key)) return own;
    const below = this.#below.get(key);
    const value = below === undefined ? undefined : this.#copier.copy(below);
    if (value !== undefined && value !== below) super.set(key, value);
    return value;
  }

  override has(key: DataKey): boolean {
    return super.has(key) || this.#isBelow(key);
  }

  override set(key: DataKey, value: Data): this {
    if (!this.#isBelow(key) && !super.has(key)) this.#added += 1;
    return super.set(key, value);
  }

  override delete(key: DataKey): boolean {
    const had = this.has(key);
    if (this.#isBelow(key)) {
      this.#gone ??= new Set();
      this.#gone.add(key);
    } else if (had) this.#added -= 1;
    super.delete(key);
    return had;
  }

  override clear(): void {
    for (const key of [...this.keys()]) this.delete(key);
  }

  override get size(): number {
    return this.#below.size - (this.#gone?.size ?? 0) + this.#added;
  }

  override *keys(): MapIterator<DataKey> {
    for (const key of this.#below.keys()) if (this.#isBelow(key)) yield key;
    for (const key of super.keys()) if (!this.#isBelow(key)) yield key;
  }

  override *values(): MapIterator<Data> {
    for (const [, value] of this.entries()) yield value;
  }

  override *entries(): MapIterator<[DataKey, Data]> {
    for (const key of this.keys()) yield [key, this.get(key) as Data];
  }

  override [Symbol.iterator](): MapIterator<[DataKey, Data]> {
    return this.entries();
  }

  override forEach(visit: (value: Data, key: DataKey, map: Map<DataKey, Data>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  *entriesToRead(): MapIterator<[DataKey, Data]> {
    for (const key of this.keys()) yield [key, this.valueToRead(key) as Data];
  }

  valueToRead(key: DataKey): Data | undefined {
    return super.get(key) ?? (this.#isBelow(key) ? this.#below.get(key) : undefined);
  }

  #isBelow(key: DataKey): boolean {
    return this.#gone?.has(key) !== true && this.#below.has(key);
  }

  #put(key: DataKey, value: Data): void {
    super.set(key, value);
  }
}
