import { plainText } from '../../protocol/plain.ts';
import { type PrefetchedRender, prefetchKey } from '../../protocol/prefetch.ts';
import type { RenderAhead } from '../prepare/prefetch.ts';

/** Bytes that are kept for one host, and for all hosts of this process. */
const mostOfHost = 1024 * 1024;
const mostOfAll = 32 * 1024 * 1024;
/** Bytes that a text counts beside its characters: its request takes about as many. */
const besideText = 512;

let keptOfAll = 0;

/** A text, with all that decided how it was rendered. */
type Kept = {
  readonly request: PrefetchedRender;
  readonly template: string;
  readonly seen: Seen;
  readonly text: string;
};

const sizeOf = (text: string): number => text.length + besideText;

/** What templates see of a host: other objects where it has changed. */
type Seen = { readonly grains: unknown; readonly pillar: unknown };

/**
 * Keeps texts that were rendered ahead for their hashes until the host asks for them: a run that
 * changes files renders no template twice.
 */
export class KeptTexts {
  readonly #render: RenderAhead;
  readonly #seenNow: () => Seen;
  /** By the names of the states. */
  readonly #kept = new Map<string, Kept>();
  #size = 0;
  #isClosed = false;

  constructor(render: RenderAhead, seenNow: () => Seen) {
    this.#render = render;
    this.#seenNow = seenNow;
  }

  /** Renders a template, and keeps the text. */
  keep: RenderAhead = async (request, template, file) => {
    const seen = this.#seenNow();
    const text = await this.#render(request, template, file);
    const size = sizeOf(text);
    const fits = this.#size + size <= mostOfHost && keptOfAll + size <= mostOfAll;
    if (fits && !this.#isClosed) {
      const name = plainText(request.chunk.name);
      this.#remove(name);
      this.#kept.set(name, { request, template, seen, text });
      this.#count(size);
    }
    return text;
  };

  /** Takes a text that was kept; undefined if the template has to be rendered. */
  take = (request: PrefetchedRender, template: string): string | undefined => {
    const kept = this.#remove(plainText(request.chunk.name));
    if (!kept) return undefined;
    const now = this.#seenNow();
    const isSame =
      kept.seen.grains === now.grains &&
      kept.seen.pillar === now.pillar &&
      kept.template === template &&
      prefetchKey(kept.request) === prefetchKey(request);
    return isSame ? kept.text : undefined;
  };

  /** The host asks for no more. */
  close(): void {
    this.#isClosed = true;
    this.#kept.clear();
    this.#count(-this.#size);
  }

  #remove(name: string): Kept | undefined {
    const kept = this.#kept.get(name);
    if (kept) this.#count(-sizeOf(kept.text));
    this.#kept.delete(name);
    return kept;
  }

  #count(size: number): void {
    this.#size += size;
    keptOfAll += size;
  }
}
