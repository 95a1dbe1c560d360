import { type Data, type DataKey, type Dict, toPlain } from './value.ts';

/**
 * A dict that is believed to be as it was, for work that begins before it is known: it remembers
 * what was read of it, so that the work counts when that much proves true.
 */
export class WatchedDict extends Map<DataKey, Data> {
  readonly #read = new Set<DataKey>();
  #readAll = false;
  #settled = false;

  override get(key: DataKey): Data | undefined {
    this.#note(key);
    return super.get(key);
  }

  override has(key: DataKey): boolean {
    this.#note(key);
    return super.has(key);
  }

  override get size(): number {
    this.#noteAll();
    return super.size;
  }

  override entries(): MapIterator<[DataKey, Data]> {
    this.#noteAll();
    return super.entries();
  }

  override keys(): MapIterator<DataKey> {
    this.#noteAll();
    return super.keys();
  }

  override values(): MapIterator<Data> {
    this.#noteAll();
    return super.values();
  }

  override [Symbol.iterator](): MapIterator<[DataKey, Data]> {
    return this.entries();
  }

  override forEach(visit: (value: Data, key: DataKey, map: Map<DataKey, Data>) => void): void {
    this.#noteAll();
    super.forEach(visit);
  }

  /** Its entries, which does not count as reading: for a copy that asks again when it is read. */
  unread(): MapIterator<[DataKey, Data]> {
    return super.entries();
  }

  /**
   * Becomes what is true.
   * @returns whether all that was read is so; otherwise nothing is changed
   */
  settle(truth: Dict): boolean {
    const before = new Map(super.entries());
    const isTrue = (key: DataKey): boolean => same(before.get(key), truth.get(key));
    const all = new Set([...before.keys(), ...truth.keys()]);
    if (![...(this.#readAll ? all : this.#read)].every(isTrue)) return false;
    this.#settled = true;
    for (const key of all) {
      const value = truth.get(key);
      if (value === undefined) this.delete(key);
      else if (!isTrue(key)) this.set(key, value);
    }
    return true;
  }

  #note(key: DataKey): void {
    if (!this.#settled) this.#read.add(key);
  }

  #noteAll(): void {
    if (!this.#settled) this.#readAll = true;
  }
}

const same = (one: Data | undefined, other: Data | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    JSON.stringify(toPlain(one)) === JSON.stringify(toPlain(other)));
