import { equal } from './compare.ts';
import { quoted, reprOf } from './text.ts';
import { type Key, Thing, tuple, type Value, type ValueDict } from './value.ts';

/** `dict.keys()`, `.values()`, `.items()`: always shows the dict's current content. */
export class DictView extends Thing {
  readonly #dict: ValueDict;
  readonly #part: 'keys' | 'values' | 'items';

  constructor(dict: ValueDict, part: 'keys' | 'values' | 'items') {
    super();
    this.#dict = dict;
    this.#part = part;
  }
  override get typeName(): string {
    return `dict_${this.#part}`;
  }
  override items(): Value[] {
    if (this.#part === 'keys') return [...this.#dict.keys()];
    if (this.#part === 'values') return [...this.#dict.values()];
    return Array.from(this.#dict, tuple);
  }
  override holds(): readonly Value[] {
    return [this.#dict];
  }
  override get size(): number {
    return this.#dict.size;
  }
  override get truth(): boolean {
    return this.#dict.size > 0;
  }
  override text(): string {
    return `${this.typeName}(${reprOf(this.items())})`;
  }
}

/** An iterator or generator: its items can be read once. */
export class Iterator extends Thing {
  override readonly typeName: string;
  readonly #name: string | undefined;
  #items: Value[];

  /** @param name of the function that made it, if it is a generator. */
  constructor(typeName: string, items: Value[], name?: string) {
    super();
    this.typeName = typeName;
    this.#items = items;
    this.#name = name;
  }
  override text(): string {
    const name = this.#name === undefined ? '' : ` ${this.#name}`;
    return `<${this.typeName} object${name} at 0x7f0000000000>`;
  }
  override items(): Value[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
  override holds(): readonly Value[] {
    return this.#items;
  }
  /** Python's `next`. */
  next(): Value | undefined {
    const [first] = this.#items;
    this.#items = this.#items.slice(1);
    return first;
  }
}

/** `range(…)`: its numbers are made on access. */
export class Range extends Thing {
  override readonly typeName = 'range';
  readonly start: number;
  readonly stop: number;
  readonly step: number;

  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
  override get size(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }
  override get truth(): boolean {
    return this.size > 0;
  }
  override items(): Value[] {
    return Array.from({ length: this.size }, (_, index) => this.start + index * this.step);
  }
  override item(key: Value): Value | undefined {
    if (typeof key !== 'number') return undefined;
    const index = key < 0 ? key + this.size : key;
    return index >= 0 && index < this.size ? this.start + index * this.step : undefined;
  }
  override equals(other: Value): boolean {
    return other instanceof Range && equal(this.items(), other.items());
  }
  override text(): string {
    const step = this.step === 1 ? '' : `, ${this.step}`;
    return `range(${this.start}, ${this.stop}${step})`;
  }
}

/** A Python set; the order is that of the first occurrence. */
export class PySet extends Thing {
  override readonly typeName = 'set';
  readonly #items: Value[];

  constructor(items: Value[]) {
    super();
    this.#items = items;
  }
  override items(): Value[] {
    return this.#items;
  }
  override holds(): readonly Value[] {
    return this.#items;
  }
  override get size(): number {
    return this.#items.length;
  }
  override get truth(): boolean {
    return this.#items.length > 0;
  }
  override equals(other: Value): boolean {
    return (
      other instanceof PySet &&
      other.size === this.size &&
      this.#items.every(item => other.#items.some(known => equal(known, item)))
    );
  }
  override text(): string {
    return this.size === 0 ? 'set()' : `{${this.#items.map(reprOf).join(', ')}}`;
  }
}

/** A Python `bytes`. */
export class Bytes extends Thing {
  override readonly typeName = 'bytes';
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    super();
    this.bytes = bytes;
  }
  override get size(): number {
    return this.bytes.length;
  }
  override get truth(): boolean {
    return this.bytes.length > 0;
  }
  override items(): Value[] {
    return [...this.bytes];
  }
  override holds(): readonly Value[] {
    return [this.bytes.toString('utf8')];
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'number' ? this.bytes.at(key) : undefined;
  }
  override equals(other: Value): boolean {
    return other instanceof Bytes && this.bytes.equals(other.bytes);
  }
  override text(): string {
    return `b${quoted(this.bytes.toString('latin1')).replace(
      /[\x80-\xff]/g,
      char => `\\x${char.charCodeAt(0).toString(16)}`,
    )}`;
  }
}

/** `namespace(…)`: the one object whose attributes a template can set. */
export class Namespace extends Thing {
  override readonly typeName = 'Namespace';
  readonly #values: ValueDict;

  constructor(values: ValueDict) {
    super();
    this.#values = values;
  }
  set(name: Key, value: Value): void {
    this.#values.set(name, value);
  }
  override holds(): readonly Value[] {
    return [this.#values];
  }
  override attribute(name: string): Value | undefined {
    return this.#values.get(name);
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'string' ? this.#values.get(key) : undefined;
  }
  override text(): string {
    return `<Namespace ${reprOf(this.#values)}>`;
  }
}
