import { type Data, type DataKey, type Dict, toPlain } from './value.ts';

/**
 * A dict with assumed values, for speculative work: it records which of them were read, so that the
 * work can be committed if these prove true.
 */
export class WatchedDict extends Map<DataKey, Data> {
  readonly #read = new Set<DataKey>();
  #readAll = false;
  /** The keys that may be read, where the real values of others will only be known later. */
  #open: ReadonlySet<DataKey> | undefined;

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

  /** Returns the entries without recording reads, for a copy that records its own reads. */
  unread(): MapIterator<[DataKey, Data]> {
    return super.entries();
  }

  /**
   * Replaces the assumed values by the real ones.
   * @returns whether all values that were read are right; if not, nothing is changed
   */
  settle(truth: Dict): boolean {
    const before = new Map(super.entries());
    const isTrue = (key: DataKey): boolean => same(before.get(key), truth.get(key));
    const all = new Set([...before.keys(), ...truth.keys()]);
    if (![...(this.#readAll ? all : this.#read)].every(isTrue)) return false;
    this.#open = undefined;
    for (const key of all) {
      const value = truth.get(key);
      if (value === undefined) this.delete(key);
      else if (!isTrue(key)) this.set(key, value);
    }
    return true;
  }

  /** Whether a value was read, other than those of these keys. */
  hasRead(known: ReadonlySet<DataKey>): boolean {
    return this.#readAll || [...this.#read].some(key => !known.has(key));
  }

  /** Refuses to read other values than those of these keys, until the real ones are set. */
  close(known: ReadonlySet<DataKey>): void {
    this.#open = known;
  }

  #note(key: DataKey): void {
    if (this.#open && !this.#open.has(key)) throw notSettled();
    this.#read.add(key);
  }

  #noteAll(): void {
    if (this.#open) throw notSettled();
    this.#readAll = true;
  }
}

const notSettled = (): Error => new Error('This value is not known yet.');

const same = (one: Data | undefined, other: Data | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    JSON.stringify(toPlain(one)) === JSON.stringify(toPlain(other)));
