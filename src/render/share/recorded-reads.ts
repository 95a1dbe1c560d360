import type { RenderContext, RootReads, TextReads } from '../types.ts';
import { DependencyTrace, nameOfRead } from './dependency-trace.ts';
import { joinFingerprints } from './fingerprint.ts';
import type { ReadWithFingerprint } from './recorder.ts';

/** The recorded reads of one rendering, which can be repeated for another host. */
export class RecordedReads implements TextReads {
  readonly #seen: readonly ReadWithFingerprint[];
  readonly #start: string;
  #key: string | undefined;
  #roots: RootReads | undefined;

  constructor(seen: readonly ReadWithFingerprint[], context: RenderContext) {
    this.#seen = seen;
    this.#start = new DependencyTrace(context).start;
  }

  get key(): string {
    this.#key ??= joinFingerprints([
      this.#start,
      ...this.#seen.flatMap(({ look, mark }) => [nameOfRead(look), mark]),
    ]);
    return this.#key;
  }

  get roots(): RootReads {
    this.#roots ??= this.#findRoots();
    return this.#roots;
  }

  async isSameFor(context: RenderContext): Promise<boolean> {
    const places = new DependencyTrace(context);
    if (places.start !== this.#start) return false;
    try {
      for (const { look, mark } of this.#seen) {
        const sight = places.see(look);
        if ((sight instanceof Promise ? await sight : sight) !== mark) return false;
      }
      return true;
    } catch {
      // If a read fails here, it also fails in the rendering, which reports the error.
      return false;
    }
  }

  #findRoots(): RootReads {
    const named = (root: number): Set<string> =>
      new Set(
        this.#seen.flatMap(({ look }) =>
          look.kind === 'item' && look.of === root ? [String(look.key)] : [],
        ),
      );
    return {
      grains: named(0),
      opts: named(2),
      isAll: this.#seen.some(({ look }) => look.kind === 'whole' && look.of !== 1 && look.of < 3),
      calls: this.#seen.flatMap(({ look }) => (look.kind === 'call' ? [look.call] : [])),
      files: this.#seen.flatMap(({ look, mark }) => (look.kind === 'file' ? [mark] : [])),
      imports: this.#seen.flatMap(({ look }) => (look.kind === 'file' ? [look] : [])),
    };
  }
}
