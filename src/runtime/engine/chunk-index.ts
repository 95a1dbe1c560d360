import { globTest, isGlob } from '../../data/python/glob.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { Requisite } from './low-tools.ts';

/**
 * Finds the chunks that a requisite names. Plain names are looked up, so that the cost of a
 * requisite does not grow with the number of states; patterns are compared with every chunk once.
 */
export class ChunkIndex {
  readonly #chunks: readonly LowChunk[];
  readonly #byName = new Map<string, LowChunk[]>();
  readonly #bySls = new Map<string, LowChunk[]>();
  readonly #globs = new Map<string, readonly LowChunk[]>();

  constructor(chunks: readonly LowChunk[]) {
    this.#chunks = chunks;
    for (const chunk of chunks) {
      const names = new Set([chunk.name, chunk.__id__]);
      for (const name of names) if (typeof name === 'string') add(this.#byName, name, chunk);
      if (typeof chunk.__sls__ === 'string') add(this.#bySls, chunk.__sls__, chunk);
    }
  }

  /**
   * Returns the chunks that a requisite names, in run order; by file for `sls:`, else by id or
   * name.
   */
  find({ key, value }: Requisite): readonly LowChunk[] {
    if (typeof value !== 'string') return [];
    if (key === 'sls') return this.#files(value);
    const named = this.#named(value);
    return key === 'id' ? named : named.filter(chunk => chunk.state === key);
  }

  /** Returns the chunks of a state module with exactly this id or name, in run order. */
  exact(state: string, value: unknown): readonly LowChunk[] {
    const named = typeof value === 'string' ? (this.#byName.get(value) ?? []) : [];
    return named.filter(chunk => chunk.state === state);
  }

  #named(value: string): readonly LowChunk[] {
    if (!isGlob(value)) return this.#byName.get(value) ?? [];
    return this.#cached(`name ${value}`, () => {
      const matches = globTest(value);
      return this.#chunks.filter(
        ({ name, __id__ }) => (typeof name === 'string' && matches(name)) || matches(__id__),
      );
    });
  }

  #files(value: string): readonly LowChunk[] {
    if (!isGlob(value)) return this.#bySls.get(value) ?? [];
    return this.#cached(`sls ${value}`, () => {
      const matches = globTest(value);
      return this.#chunks.filter(({ __sls__ }) => matches(String(__sls__)));
    });
  }

  #cached(key: string, find: () => readonly LowChunk[]): readonly LowChunk[] {
    const known = this.#globs.get(key);
    if (known) return known;
    const found = find();
    this.#globs.set(key, found);
    return found;
  }
}

const add = (map: Map<string, LowChunk[]>, key: string, chunk: LowChunk): void => {
  const list = map.get(key);
  if (list) list.push(chunk);
  else map.set(key, [chunk]);
};
