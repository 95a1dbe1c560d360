import type { Value } from '../values/value.ts';

/** A variable whose value is made on first access. */
export class Deferred {
  readonly #make: () => Value;
  #value: Value | undefined;

  constructor(make: () => Value) {
    this.#make = make;
  }
  get value(): Value {
    this.#value ??= this.#make();
    return this.#value;
  }
}

/** Names and their values; some values are not made yet. */
export type Names = Map<string, Value | Deferred>;
