import type { RunParams } from '../../protocol/job.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type {
  Prefetch,
  Prefetched,
  PrefetchedPiece,
  RenderedFile,
  RenderedPiece,
} from '../../protocol/prefetch.ts';

/** Collects what the control node sends ahead for one run, before and while its states run. */
export class ArrivingPrefetch implements Prefetched {
  readonly files: NonNullable<Prefetch['files']>;
  readonly lists: NonNullable<Prefetch['lists']>;
  readonly rendered: Record<string, RenderedFile>;
  readonly #chunks: readonly LowChunk[];
  readonly #pieces: PrefetchedPiece[];
  readonly #users: ((piece: PrefetchedPiece) => void)[] = [];
  readonly #waiting = new Map<number, (() => void)[]>();
  #covered: number;
  #places: ReadonlyMap<string, number> | undefined;

  constructor({
    chunks,
    prefetch,
    rendering,
  }: Pick<RunParams, 'chunks' | 'prefetch' | 'rendering'>) {
    const { files = {}, lists = {}, rendered = {} } = (prefetch ?? {}) as Prefetch;
    this.#chunks = chunks;
    this.#covered = rendering?.covered ?? chunks.length;
    this.files = files;
    this.lists = lists;
    this.rendered = { ...rendered };
    this.#pieces = [{ chunks: chunks.slice(0, this.#covered), rendered }];
  }

  /** Adds the next piece, and resumes the states that waited for it. */
  add({ rendered, covered }: RenderedPiece): void {
    const piece = { chunks: this.#chunks.slice(this.#covered, covered), rendered };
    this.#covered = covered;
    Object.assign(this.rendered, rendered);
    this.#pieces.push(piece);
    for (const use of this.#users) use(piece);
    for (const [place, resolves] of this.#waiting) {
      if (place >= covered) continue;
      this.#waiting.delete(place);
      for (const resolve of resolves) resolve();
    }
  }

  /** Nothing more arrives: states request what is missing. */
  end(): void {
    this.add({ run: 0, rendered: {}, covered: Number.MAX_SAFE_INTEGER });
  }

  arrival = (tag: string): Promise<void> | undefined => {
    const count = this.#chunks.length;
    if (this.#covered >= count) return undefined;
    this.#places ??= new Map(this.#chunks.map((chunk, at) => [lowTag(chunk), at]));
    // A state that another one made has no place: it waits for all pieces.
    const place = this.#places.get(tag) ?? count - 1;
    if (place < this.#covered) return undefined;
    return new Promise(resolve => {
      const others = this.#waiting.get(place);
      if (others) others.push(resolve);
      else this.#waiting.set(place, [resolve]);
    });
  };

  eachPiece = (use: (piece: PrefetchedPiece) => void): void => {
    this.#users.push(use);
    for (const piece of this.#pieces) use(piece);
  };
}
