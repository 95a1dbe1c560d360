import { type Data, type DataKey, type Dict, toPlain } from './value.ts';

/**
 * A dict with assumed values, for speculative work: it records which of them were read, so that the
 * work can be committed if these prove true.
 */
export class WatchedDict extends Map<DataKey, Data> {
  readonly #read = new Set<DataKey>();
  readonly #known: ReadonlySet<DataKey>;
  #readAll = false;
  #hasRead = false;
  #isClosed = false;

  /** @param known keys whose values are certainly right */
  constructor(assumed: Iterable<[DataKey, Data]>, known: ReadonlySet<DataKey> = new Set()) {
    super(assumed);
    this.#known = known;
  }

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
    this.#isClosed = false;
    for (const key of all) {
      const value = truth.get(key);
      if (value === undefined) this.delete(key);
      else if (!isTrue(key)) this.set(key, value);
    }
    return true;
  }

  /** Whether a value was read that is not certain. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Refuses to read values that are not certain, until the real ones are set. */
  close(): void {
    this.#isClosed = true;
  }

  #note(key: DataKey): void {
    if (!this.#known.has(key)) this.#noteUncertain();
    this.#read.add(key);
  }

  #noteAll(): void {
    this.#noteUncertain();
    this.#readAll = true;
  }

  #noteUncertain(): void {
    if (this.#isClosed) throw new Error('This value is not known yet.');
    this.#hasRead = true;
  }
}

const same = (one: Data | undefined, other: Data | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    JSON.stringify(toPlain(one)) === JSON.stringify(toPlain(other)));
