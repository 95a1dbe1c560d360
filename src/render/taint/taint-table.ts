import {
  type Ranges,
  rangesOf,
  type TaintRange,
  uniteRanges,
  wholeRange,
} from '../../data/taint.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { Trigrams } from './trigrams.ts';

/** Knows which strings of one host, or of one rendering, are tainted. */
export type TaintSource = {
  /** The host that sent the data, as named in messages. */
  readonly owner: string;
  /** Returns the tainted parts of a string; `undefined` if all of it is clean. */
  of(text: string): Ranges | undefined;
  /**
   * Returns the parts of a string that equal host-supplied strings, for strings of unknown origin.
   */
  partsOf(text: string): Ranges | undefined;
  /** Records the tainted parts of a string that was made from tainted ones. */
  learn(text: string, ranges: Ranges): void;
};

/** Limits of one search for host-supplied strings: characters, and occurrences. */
const mostSearched = 100_000_000;
const mostParts = 100_000;
/** Characters of a search that takes less time than to index the text first. */
const fewSearched = 1_000_000;

/**
 * The strings that a host sent, and those made from them, with their tainted parts. Strings are
 * identified by their content, because values of templates are plain strings: a clean string that
 * equals a tainted one counts as tainted, never the other way round.
 */
export class TaintTable implements TaintSource {
  readonly owner: string;
  readonly #below: TaintSource | undefined;
  readonly #texts = new Map<string, Ranges>();
  /** Data sent by the host and not indexed yet: most runs of one command never need it. */
  readonly #unread: { readonly data: Plain; readonly source: string }[] = [];

  /** Data that taints nothing before something has used it. */
  #late: { readonly isUsed: () => boolean; readonly hear: () => void }[] = [];

  /**
   * @param owner the host's id, which stays clean although the host sends it.
   * @param below the known taint, for the table of one rendering.
   */
  constructor(owner: string, below?: TaintSource) {
    this.owner = owner;
    this.#below = below;
  }

  /** Taints all strings and keys in data that the host sent. */
  hear(data: Plain, source: string): void {
    this.#unread.push({ data, source });
  }

  /** Calls `hear`, which taints data, once the data is used: until then, no string is made of it. */
  hearOnceUsed(isUsed: () => boolean, hear: () => void): void {
    this.#late.push({ isUsed, hear });
  }

  of(text: string): Ranges | undefined {
    this.#read();
    const own = this.#texts.get(text);
    const below = this.#below?.of(text);
    return own && below ? uniteRanges(own, below) : (own ?? below);
  }

  partsOf(text: string): Ranges | undefined {
    this.#read();
    const found: TaintRange[] = [];
    let left = mostSearched;
    const isLong = this.#texts.size * text.length > fewSearched;
    const trigrams = isLong ? new Trigrams(text) : undefined;
    for (const [part, [{ source }]] of this.#texts) {
      if (trigrams?.mayContain(part) === false) continue;
      left -= text.length;
      // The host chose the amount of data, so the whole text counts as tainted.
      if (left < 0) return wholeRange(text, 'data');
      for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
        found.push({ start: at, end: at + part.length, source, isGuessed: true });
        if (found.length > mostParts) return wholeRange(text, 'data');
      }
    }
    const own = rangesOf(found);
    const below = this.#below?.partsOf(text);
    return own ? uniteRanges(own, below) : below;
  }

  learn(text: string, ranges: Ranges): void {
    if (text === '' || text === this.owner) return;
    this.#read();
    this.#texts.set(text, uniteRanges(ranges, this.#texts.get(text)));
  }

  #read(): void {
    if (this.#late.some(({ isUsed }) => isUsed())) {
      const used = this.#late.filter(({ isUsed }) => isUsed());
      this.#late = this.#late.filter(late => !used.includes(late));
      for (const { hear } of used) hear();
    }
    if (this.#unread.length === 0) return;
    for (const { data, source } of this.#unread.splice(0)) this.#add(data, source);
  }

  #add(data: Plain, source: string): void {
    if (typeof data === 'string') this.#addText(data, source);
    else if (Array.isArray(data)) for (const item of data) this.#add(item, source);
    else if (isPlainDict(data))
      for (const [key, item] of Object.entries(data)) {
        this.#addText(key, source);
        this.#add(item, source);
      }
  }

  #addText(text: string, source: string): void {
    if (text === '' || text === this.owner) return;
    const known = this.#texts.get(text);
    // The first sender is named; another range of the whole text adds no information.
    if (known?.length === 1 && known[0].end - known[0].start === text.length && !known[0].isNode)
      return;
    this.#texts.set(text, wholeRange(text, source));
  }
}
