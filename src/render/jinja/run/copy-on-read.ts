import { isOrdered, markOrdered } from '../../../data/values/ordered.ts';
import { entriesToRead, valueToRead } from '../../../data/values/shared-dict.ts';
import type { Data, DataKey, Dict } from '../../../data/values/value.ts';
import { Float } from '../../../data/values/value.ts';
import { WatchedDict } from '../../../data/values/watched-dict.ts';
import type { Recorder } from '../../share/recorder.ts';
import type { Key, Value, ValueDict } from '../values/value.ts';

/**
 * Makes a template's own copy of shared data: changing it changes nothing else. Only the parts that
 * a template reads are really copied. References to the same object stay references to the same
 * object in the copy.
 *
 * @param recorder is notified of every read of the original.
 */
export const copyOnRead = (data: Data, recorder?: Recorder): Value =>
  new Copier(recorder, false).copy(data);

/** As `copyOnRead`, for data that does not change while the copy is in use. */
export const copyOfConstant = (data: Data, recorder?: Recorder): Value =>
  new Copier(recorder, true).copy(data);

class Copier {
  readonly recorder: Recorder | undefined;
  /** Whether not even the keys of a dict are copied before they are read. */
  readonly isLate: boolean;
  readonly #known = new Map<object, Value>();

  constructor(recorder: Recorder | undefined, isLate: boolean) {
    this.recorder = recorder;
    this.isLate = isLate;
  }

  copy(data: Data): Value {
    if (typeof data !== 'object' || data === null || data instanceof Float) return data;
    const known = this.#known.get(data);
    if (known !== undefined) return known;
    if (!Array.isArray(data)) {
      const dict =
        data instanceof WatchedDict ? new CopyOfWatched(data, this) : new CopyOfDict(data, this);
      this.#known.set(data, dict);
      return dict;
    }
    const list: Value[] = [];
    this.#known.set(data, list);
    this.recorder?.keys(data);
    for (const [index, item] of data.entries()) {
      this.recorder?.item(data, index);
      list.push(this.copy(item));
    }
    return list;
  }
}

/**
 * A dict whose values are copied on first access; those of data that does not change without its
 * keys, until more is done with it than to get single values.
 */
class CopyOfDict extends Map<Key, Value> {
  readonly #original: Dict;
  readonly #copier: Copier;
  protected hasKeys = false;
  #isWhole = false;
  /** The values that were copied before the keys. */
  #early: Map<Key, Value> | undefined;

  constructor(original: Dict, copier: Copier) {
    super();
    this.#original = original;
    this.#copier = copier;
    if (!copier.isLate) this.#copyKeys();
    if (isOrdered(original)) markOrdered(this as unknown as Dict);
  }

  #copyKeys(): void {
    if (this.hasKeys) return;
    this.hasKeys = true;
    const original = this.#original;
    const entries = original instanceof WatchedDict ? original.unread() : entriesToRead(original);
    for (const [key, value] of entries) super.set(key, this.#early?.get(key) ?? value);
    this.#early = undefined;
  }

  #getEarly(key: Key): Value | undefined {
    const early = this.#early?.get(key);
    if (early !== undefined) return early;
    const value = valueToRead(this.#original, key as DataKey);
    if (typeof value !== 'object' || value === null) return value;
    const copy = this.#copier.copy(this.#original.get(key as DataKey) as Data);
    this.#early ??= new Map();
    this.#early.set(key, copy);
    return copy;
  }

  override get(key: Key): Value | undefined {
    this.#copier.recorder?.item(this.#original, key as DataKey);
    if (!this.hasKeys) return this.#getEarly(key);
    const value = super.get(key);
    if (this.#isWhole || typeof value !== 'object' || value === null) return value;
    const own = this.#original as Dict;
    if (value !== valueToRead(own, key as DataKey)) return value;
    const copy = this.#copier.copy(own.get(key as DataKey) as Data);
    super.set(key, copy);
    return copy;
  }

  override has(key: Key): boolean {
    this.#copier.recorder?.item(this.#original, key as DataKey);
    return this.hasKeys ? super.has(key) : this.#original.has(key as DataKey);
  }

  override set(key: Key, value: Value): this {
    this.#copyKeys();
    return super.set(key, value);
  }

  override delete(key: Key): boolean {
    this.#copyKeys();
    return super.delete(key);
  }

  override clear(): void {
    this.#copyKeys();
    super.clear();
  }

  override get size(): number {
    this.#copier.recorder?.keys(this.#original);
    this.#copyKeys();
    return super.size;
  }

  override keys(): ReturnType<ValueDict['keys']> {
    this.#copier.recorder?.keys(this.#original);
    this.#copyKeys();
    return super.keys();
  }

  #whole(): void {
    this.#copier.recorder?.keys(this.#original);
    if (this.#isWhole) return;
    this.#copyKeys();
    for (const key of super.keys()) this.get(key);
    this.#isWhole = true;
  }

  override values(): ReturnType<ValueDict['values']> {
    this.#whole();
    return super.values();
  }
  override entries(): ReturnType<ValueDict['entries']> {
    this.#whole();
    return super.entries();
  }
  override [Symbol.iterator](): ReturnType<ValueDict['entries']> {
    return this.entries();
  }
  override forEach(visit: (value: Value, key: Key, map: ValueDict) => void): void {
    this.#whole();
    super.forEach(visit);
  }
}

/**
 * A dict whose values are read from the original on first access, since the original may change
 * until then.
 */
class CopyOfWatched extends CopyOfDict {
  readonly #watched: WatchedDict;
  /** The values that the template has read or changed itself. */
  readonly #own = new Set<Key>();

  constructor(original: WatchedDict, copier: Copier) {
    super(original, copier);
    this.#watched = original;
  }

  override get(key: Key): Value | undefined {
    if (this.hasKeys) this.#look(key);
    else this.#own.add(key);
    return super.get(key);
  }
  override has(key: Key): boolean {
    if (this.hasKeys) this.#look(key);
    else this.#own.add(key);
    return super.has(key);
  }
  override set(key: Key, value: Value): this {
    this.#own.add(key);
    return super.set(key, value);
  }
  override delete(key: Key): boolean {
    this.#look(key);
    return super.delete(key);
  }
  override clear(): void {
    this.#lookAtAll();
    super.clear();
  }
  override get size(): number {
    this.#lookAtAll();
    return super.size;
  }
  override keys(): ReturnType<ValueDict['keys']> {
    this.#lookAtAll();
    return super.keys();
  }
  override values(): ReturnType<ValueDict['values']> {
    this.#lookAtAll();
    return super.values();
  }
  override entries(): ReturnType<ValueDict['entries']> {
    this.#lookAtAll();
    return super.entries();
  }
  override forEach(visit: (value: Value, key: Key, map: ValueDict) => void): void {
    this.#lookAtAll();
    super.forEach(visit);
  }

  #look(key: Key): void {
    if (this.#own.has(key)) return;
    this.#own.add(key);
    const value = this.#watched.get(key as never);
    if (value === undefined) super.delete(key);
    else super.set(key, value as Value);
  }

  #lookAtAll(): void {
    for (const key of [...this.#watched.keys(), ...super.keys()]) this.#look(key as Key);
  }
}
