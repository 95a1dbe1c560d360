import type { PlainDict } from '../../protocol/plain.ts';

/**
 * The grains of a run whose states read none by themselves: they are collected when a state first
 * calls another function. Until then, reading one throws.
 */
export class LaterGrains {
  readonly #collect: () => Promise<PlainDict>;
  #known: PlainDict;
  #isCollected = false;
  #collecting: Promise<void> | undefined;

  /**
   * @param known the grains of roster and configuration
   * @param collect returns all grains, those included
   */
  constructor(known: PlainDict, collect: () => Promise<PlainDict>) {
    this.#known = known;
    this.#collect = collect;
  }

  /** As `__grains__`. */
  readonly grains: PlainDict = new Proxy<PlainDict>(
    {},
    {
      get: (_, key) => Reflect.get(this.#read(), key),
      has: (_, key) => Reflect.has(this.#read(), key),
      ownKeys: () => Reflect.ownKeys(this.#read()),
      getOwnPropertyDescriptor: (_, key) => {
        const found = Reflect.getOwnPropertyDescriptor(this.#read(), key);
        return found && { ...found, configurable: true };
      },
      set: () => false,
    },
  );

  /** The grains that are known by now, for the engine itself. */
  get known(): PlainDict {
    return this.#known;
  }

  /** Collects the grains, once. */
  collect = (): Promise<void> | undefined => {
    if (this.#isCollected) return undefined;
    this.#collecting ??= this.#collect().then(grains => {
      this.#known = grains;
      this.#isCollected = true;
    });
    return this.#collecting;
  };

  #read(): PlainDict {
    if (this.#isCollected) return this.#known;
    throw new Error('A grain was read before the grains were collected.');
  }
}
