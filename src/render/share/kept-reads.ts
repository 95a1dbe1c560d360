import type { RenderContext, RootReads, TextReads } from '../types.ts';
import { joinMarks } from './mark.ts';
import { DependencyTrace, nameOfLook } from './places.ts';
import type { Seen } from './recorder.ts';

/** The recorded reads of one rendering, which can be repeated for another host. */
export class KeptReads implements TextReads {
  readonly #seen: readonly Seen[];
  readonly #start: string;
  #key: string | undefined;

  constructor(seen: readonly Seen[], context: RenderContext) {
    this.#seen = seen;
    this.#start = new DependencyTrace(context).start;
  }

  get key(): string {
    this.#key ??= joinMarks([
      this.#start,
      ...this.#seen.flatMap(({ look, mark }) => [nameOfLook(look), mark]),
    ]);
    return this.#key;
  }

  get roots(): RootReads {
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
    };
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
}
