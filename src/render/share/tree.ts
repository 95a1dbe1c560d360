import type { Ranges } from '../../data/taint.ts';
import type { Mapping } from '../source-map.ts';
import type { RenderContext, TextReads } from '../types.ts';
import { DependencyTrace, nameOfRead, type RecordedRead } from './dependency-trace.ts';
import type { ReadWithFingerprint } from './recorder.ts';

/** A rendered text, its tainted parts (the same for every host that shares it), and its origins. */
export type SharedText = {
  readonly text: string;
  readonly tainted: Ranges | undefined;
  readonly map: Mapping | undefined;
  readonly reads: TextReads;
};

type Node = { readonly look: RecordedRead; readonly next: Map<string, Node | SharedText> };

/**
 * The results of one template. A template is a function of its reads: the first read is always the
 * same, and the next one depends only on the values of those before. So results are the leaves of a
 * tree whose nodes are reads: a host with the same values all the way from the root gets the same
 * text.
 */
export class ResultTree {
  #root: Node | SharedText | undefined;
  #isSteady = true;

  /** Returns the text for a host whose reads have the same values as an earlier host's. */
  async find(context: RenderContext): Promise<SharedText | undefined> {
    const places = new DependencyTrace(context);
    let at = this.#root;
    try {
      while (at && 'look' in at) {
        const sight = places.see(at.look);
        const mark = sight instanceof Promise ? await sight : sight;
        at = mark === undefined ? undefined : at.next.get(mark);
      }
      return at;
    } catch {
      // If a read fails here, it also fails in the rendering, which reports the error.
      return undefined;
    }
  }

  /**
   * Adds a result. If the template makes a different read after the same values, it is not shared.
   */
  add(seen: readonly ReadWithFingerprint[], result: SharedText): void {
    const begin = this.#step(this.#root, seen, 0, result);
    this.#root = begin;
    let at = begin;
    for (const [index, { mark }] of seen.entries()) {
      if (!at || !('look' in at)) break;
      const next = this.#step(at.next.get(mark), seen, index + 1, result);
      if (next === undefined) break;
      at.next.set(mark, next);
      at = next;
    }
    if (!this.#isSteady) this.#root = undefined;
  }

  #step(
    known: Node | SharedText | undefined,
    seen: readonly ReadWithFingerprint[],
    index: number,
    result: SharedText,
  ): Node | SharedText | undefined {
    const look = seen[index]?.look;
    const isSame =
      known === undefined ||
      ('look' in known
        ? look !== undefined && nameOfRead(known.look) === nameOfRead(look)
        : look === undefined && known.text === result.text);
    if (!isSame) this.#isSteady = false;
    if (!this.#isSteady) return undefined;
    return known ?? (look ? { look, next: new Map() } : result);
  }
}
