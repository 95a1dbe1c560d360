import type { Value } from '../values/value.ts';

/** A variable whose value is made when a template first asks for it. */
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

/** Names and their values, some of them not made yet. */
export type Names = Map<string, Value | Deferred>;
