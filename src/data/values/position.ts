import type { SourceLocation } from '../../protocol/error.ts';
import { copyCollectionTaint } from '../collection-taint.ts';
import { excerptOf } from '../excerpt.ts';
import { objectNote } from './object-note.ts';
import type { Data } from './value.ts';

/** Line and column, both 1-based, in the text that was parsed. */
export type TextPosition = { readonly line: number; readonly column: number };

const texts = new WeakMap<SourceLocation, string>();

/** Adds the text of a location's file, to show the lines around it. */
export const withSourceText = (place: SourceLocation, text: string): SourceLocation => {
  texts.set(place, text);
  return place;
};

/** Returns the lines around a location whose text is known. */
export const excerptAt = (place: SourceLocation, around: number): string | undefined => {
  const text = texts.get(place);
  return text === undefined || place.line === undefined
    ? undefined
    : excerptOf(text, place.line, 1, around);
};

/** Maps a position in a rendered text to its location in the template. */
export type Trace = (position: TextPosition) => SourceLocation;

/**
 * Positions of a node and its parts in a text, as offsets: few are ever needed, and lines are
 * counted only for these.
 */
export class NodePositions {
  readonly #locate: (offset: number) => TextPosition | undefined;
  readonly #at: number;
  readonly #offsets: readonly number[];
  readonly #keys: readonly unknown[] | undefined;
  #indexes: Map<unknown, number> | undefined;

  /**
   * @param at the offset of the node itself.
   * @param offsets of the items of a sequence, or of the keys; negative if unknown.
   */
  constructor(
    locate: (offset: number) => TextPosition | undefined,
    at: number,
    offsets: readonly number[],
    keys?: readonly unknown[],
  ) {
    this.#locate = locate;
    this.#at = at;
    this.#offsets = offsets;
    this.#keys = keys;
  }

  get node(): TextPosition | undefined {
    return this.#locate(this.#at);
  }

  of(key: unknown): TextPosition | undefined {
    const offset = this.#offsets[this.#indexOf(key) ?? -1] ?? -1;
    return offset < 0 ? undefined : this.#locate(offset);
  }

  /** Returns the same positions in another text. */
  moved(move: (position: TextPosition) => TextPosition | undefined): NodePositions {
    const locate = (offset: number): TextPosition | undefined => {
      const position = this.#locate(offset);
      return position && move(position);
    };
    return new NodePositions(locate, this.#at, this.#offsets, this.#keys);
  }

  #indexOf(key: unknown): number | undefined {
    if (!this.#keys) return typeof key === 'number' ? key : undefined;
    if (this.#keys.length <= fewKeys) return this.#keys.lastIndexOf(key);
    this.#indexes ??= new Map(this.#keys.map((known, index) => [known, index]));
    return this.#indexes.get(key);
  }
}

const fewKeys = 8;

const places = objectNote<NodePositions>();

/** Records the position of a mapping or sequence. */
export const setPositions = places.put;

/** Returns the position of a mapping's key or a sequence's item, if the loader recorded it. */
export const keyPosition = (node: object, key: unknown): TextPosition | undefined =>
  places.of(node)?.of(key);

export const nodePosition = (node: unknown): TextPosition | undefined =>
  typeof node === 'object' && node !== null ? places.of(node)?.node : undefined;

/**
 * Replaces the positions of data that was read from a rendered text by those in its template. One
 * that is not in this template is forgotten.
 */
export const tracePositions = (data: Data, file: string, trace: Trace): void => {
  const seen = new Set<unknown>();
  const move = (position: TextPosition): TextPosition | undefined => {
    const { file: origin, line, column = 1 } = trace(position);
    return origin === file && line !== undefined ? { line, column } : undefined;
  };
  const walk = (node: Data): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const known = places.of(node);
    if (known) places.put(node, known.moved(move));
    if (Array.isArray(node)) for (const item of node) walk(item);
    else if (node instanceof Map) for (const value of node.values()) walk(value);
  };
  walk(data);
};

/** Copies the positions and the taint of a node to its copy. */
export const copyPositions = (from: object, to: object): void => {
  const known = places.of(from);
  if (known) places.put(to, known);
  copyCollectionTaint(from, to);
};
