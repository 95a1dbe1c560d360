import { stringify } from '../protocol/exact-json.ts';

/** A table of values without duplicates. */
export class Table<T> {
  readonly values: T[] = [];
  readonly #places = new Map<string, number>();

  /** Returns the index of a value in `values`; equal values have the same one. */
  place(value: T): number {
    const key = stringify(value).text;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.values.push(value) - 1;
    this.#places.set(key, place);
    return place;
  }
}
