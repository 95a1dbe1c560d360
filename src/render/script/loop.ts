/** Returns the items of a loop: the keys of an object, as in Python. */
export const iterate = (value: unknown): Iterable<unknown> => {
  if (typeof value === 'object' && value !== null && !(Symbol.iterator in value))
    return Object.keys(value);
  return value as Iterable<unknown>;
};

/** Mako's `loop` inside of `% for`. */
class Loop {
  index = 0;
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }
  get reverse_index(): number {
    return this.#length - this.index - 1;
  }
  get first(): boolean {
    return this.index === 0;
  }
  get last(): boolean {
    return this.index === this.#length - 1;
  }
  get even(): boolean {
    return this.index % 2 === 0;
  }
  get odd(): boolean {
    return !this.even;
  }
  cycle(...values: unknown[]): unknown {
    return values[this.index % values.length];
  }
}

/** Yields each item with its `loop`. */
export function* loopOver(value: unknown): Generator<[Loop, unknown]> {
  const items = [...iterate(value)];
  const loop = new Loop(items.length);
  for (const [index, item] of items.entries()) {
    loop.index = index;
    yield [loop, item];
  }
}
