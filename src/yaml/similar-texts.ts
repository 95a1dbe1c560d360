import { treeKinds, treeWidth } from './tree-kinds.ts';
import { type WordEdit, wordEdits } from './word-edits.ts';

type Packed = Int32Array<ArrayBuffer>;

/** A text and its tree, as `packTree` returns it. */
type KnownText = { readonly text: string; readonly packed: Packed };

/** A template prints few structures: one for each system, for example. */
const mostOfFile = 4;
const longestText = 256_000;
/** Characters of all texts, at most. */
const mostKept = 1_000_000;

/**
 * The trees of texts of which later ones may differ in words only, as those that a template prints
 * for other hosts do: names and paths. Their trees are the same but for the offsets.
 */
export class SimilarTexts {
  readonly #known = new Map<string, KnownText[]>();
  #size = 0;

  /** Returns the tree of a text if one of the same file differs from it in words only. */
  find(file: string, text: string): Packed | undefined {
    for (const known of this.#known.get(file) ?? []) {
      const edits = wordEdits(known.text, text);
      const moved = edits && moveTree(known, text, edits);
      if (moved) return moved;
    }
    return undefined;
  }

  keep(file: string, text: string, packed: Packed): void {
    if (text.length > longestText) return;
    this.#size += text.length;
    if (this.#size > mostKept) {
      this.#known.clear();
      this.#size = text.length;
    }
    const known = this.#known.get(file);
    if (known) known.unshift({ text, packed });
    else this.#known.set(file, [{ text, packed }]);
    if (known && known.length > mostOfFile) this.#size -= known.pop()?.text.length ?? 0;
  }
}

/**
 * Returns the tree of a text that differs from a known one in words.
 *
 * @returns undefined if a word is outside of scalars and comments, or in one of two equal scalars
 */
export const moveTree = (
  known: KnownText,
  text: string,
  edits: readonly WordEdit[],
): Packed | undefined =>
  edits.length === 0 ? known.packed : new TreeMove(known, text, edits).move();

type Bounds = readonly [start: number, end: number];

type Scalar = {
  readonly bounds: Bounds;
  readonly isEncoded: boolean;
  /** Whether words of it differ. */
  isEdited: boolean;
};

class TreeMove {
  readonly #known: string;
  readonly #from: Packed;
  readonly #text: string;
  readonly #edits: readonly WordEdit[];
  /** The first word that has not been found in a scalar or comment. */
  #next = 0;
  /** The end of the last scalar. */
  #end = 0;
  /** The words before the last offset that was moved. */
  #passed = 0;
  readonly #scalars: Scalar[] = [];

  constructor({ text, packed }: KnownText, other: string, edits: readonly WordEdit[]) {
    this.#known = text;
    this.#from = packed;
    this.#text = other;
    this.#edits = edits;
  }

  move(): Packed | undefined {
    const from = this.#from;
    const packed = from.slice();
    for (let at = 0; at < from.length; at += treeWidth) {
      const kind = from[at];
      const offset = from[at + 1] as number;
      const first = from[at + 2] as number;
      const second = from[at + 3] as number;
      packed[at + 1] = this.#moved(offset);
      if (kind === treeKinds.list || kind === treeKinds.dict) continue;
      if (kind === treeKinds.known) {
        const next = from[at + treeWidth + 1] ?? this.#known.length;
        if (!this.#isStillEqual(offset, next, first)) return undefined;
        continue;
      }
      const isEncoded = kind === treeKinds.encoded;
      const scalar: Scalar = { bounds: [first, second], isEncoded, isEdited: false };
      this.#scalars.push(scalar);
      // The numbers of its style stay.
      if (isEncoded) at += treeWidth;
      if (first === 0 && second === 0) continue;
      if (!this.#pass(scalar.bounds)) return undefined;
      scalar.isEdited = (this.#edits[this.#next - 1]?.end ?? 0) > first;
      const record = isEncoded ? at - treeWidth : at;
      packed[record + 2] = this.#moved(first);
      packed[record + 3] = this.#moved(second);
    }
    const { length } = this.#known;
    return this.#pass([length, length]) ? packed : undefined;
  }

  /**
   * Passes the words up to the end of a scalar. Returns false if one is partly outside of it, or is
   * before it and not in a comment.
   */
  #pass([start, end]: Bounds): boolean {
    const edits = this.#edits;
    for (let edit = edits[this.#next]; edit && edit.start < end; edit = edits[this.#next]) {
      const isBefore = edit.end <= start;
      if (isBefore ? !this.#isInComment(edit) : edit.start < start || edit.end > end) return false;
      this.#next += 1;
    }
    this.#end = end;
    return true;
  }

  #isInComment({ start }: WordEdit): boolean {
    const text = this.#known;
    const line = Math.max(text.lastIndexOf('\n', start), text.lastIndexOf('\r', start)) + 1;
    return text.lastIndexOf('#', start) >= Math.max(line, this.#end);
  }

  /**
   * Whether a scalar equals the one of which it was known to be equal.
   *
   * @param next - the offset of the node after it
   */
  #isStillEqual(offset: number, next: number, number: number): boolean {
    const equal = this.#scalars[number];
    if (!equal) return false;
    const { bounds, isEncoded, isEdited } = equal;
    if (!isEdited && (this.#edits[this.#next]?.start ?? next) >= next) {
      this.#end = next;
      return true;
    }
    const [start, end] = bounds;
    const own = offset + (`"'`.includes(this.#known.charAt(offset)) ? 1 : 0);
    const ownEnd = own + end - start;
    const isSameText = !isEncoded && this.#known.startsWith(this.#known.slice(start, end), own);
    if (!isSameText) {
      // Where it ends is not known: no word may differ from here to the next scalar.
      const isUntouched = this.#pass([offset, offset]) && !isEdited;
      this.#end = this.#known.length;
      return isUntouched;
    }
    if (!this.#pass([own, ownEnd])) return false;
    const [moved, movedEnd] = [this.#moved(start), this.#moved(end)];
    const [movedOwn, movedOwnEnd] = [this.#moved(own), this.#moved(ownEnd)];
    return (
      movedEnd - moved === movedOwnEnd - movedOwn &&
      this.#text.startsWith(this.#text.slice(moved, movedEnd), movedOwn)
    );
  }

  /** Returns an offset of the known text in the other one. */
  #moved(offset: number): number {
    const edits = this.#edits;
    while ((edits[this.#passed]?.end ?? Number.POSITIVE_INFINITY) <= offset) this.#passed += 1;
    while ((edits[this.#passed - 1]?.end ?? 0) > offset) this.#passed -= 1;
    return offset + (edits[this.#passed - 1]?.shift ?? 0);
  }
}
