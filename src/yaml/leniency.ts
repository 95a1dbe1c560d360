import type { Constructs } from './constructs.ts';
import { continuedNodes } from './continued-nodes.ts';

/** An insertion at an offset of the text. */
export type Edit = {
  readonly at: number;
  readonly added: string;
  /** The quoted string or flow collection in which the line is, by its offset in the text. */
  readonly inside?: number;
};

/** Beyond this column a text is not worth the memory. */
const maxColumn = 1000;
const maxSpaces = 4_000_000;

/** Applies ordered edits, and maps offsets of the result back. */
export class Edits {
  readonly #edits: readonly Edit[];
  /** How much is inserted up to and including each edit. */
  readonly #totals: number[] = [];

  constructor(edits: readonly Edit[]) {
    this.#edits = edits;
    let total = 0;
    for (const { added } of edits) {
      total += added.length;
      this.#totals.push(total);
    }
  }

  apply(text: string): string {
    if (this.#edits.length === 0) return text;
    const parts: string[] = [];
    let from = 0;
    for (const { at, added } of this.#edits) {
      parts.push(text.slice(from, at), added);
      from = at;
    }
    parts.push(text.slice(from));
    return parts.join('');
  }

  readonly sourceOffset = (offset: number): number => {
    let low = 0;
    let high = this.#edits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { at } = this.#edits[middle] as Edit;
      if (at + (this.#totals[middle - 1] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    const last = this.#edits[low - 1];
    if (!last) return offset;
    return Math.max(last.at, offset - (this.#totals[low - 1] ?? 0));
  };
}

/** Inserts a space before the colon of `&name: value` and `*name: value`, as YAML 1.1 reads it. */
export const anchorEdits = (text: string): Edit[] =>
  [...text.matchAll(/[&*][\w-]+(?=:(?:[\s,[\]{}]|$))/g)].map(({ 0: { length }, index }) => ({
    at: index + length,
    added: ' ',
  }));

/** Quotes a `-` that is a string between brackets, which js-yaml does not accept. */
export const dashEdits = (text: string, at: number): Edit[] =>
  /^-[,\]}]/.test(text.slice(at, at + 2))
    ? [
        { at, added: '"' },
        { at: at + 1, added: '"' },
      ]
    : [];

/**
 * Indents each line inside quotes and brackets at least as far as the node that it continues, which
 * does not change the data. Returns no edits if too many spaces would be needed.
 */
export const indentEdits = (text: string): Edit[] => {
  const edits: Edit[] = [];
  let spaces = 0;
  for (const { start, end } of continuedNodes(text)) {
    const column = columnOf(text, start);
    if (column > maxColumn) return [];
    for (let at = nextLine(text, start); at < end; at = nextLine(text, at)) {
      const indent = indentOf(text, at);
      const isMarker = indent === 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(text.slice(at, at + 4));
      if (indent >= column || isMarker || /[\r\n]/.test(text.charAt(at + indent))) continue;
      edits.push({ at, added: ' '.repeat(column - indent), inside: start });
      spaces += column - indent;
    }
    if (end === text.length) edits.push({ at: end, added: ' '.repeat(column), inside: start });
    if (spaces > maxSpaces) return [];
  }
  return edits;
};

/** Returns the edits whose position is confirmed by the parser, so that they change no data. */
export const verified = (edits: readonly Edit[], { continued, names }: Constructs): Edit[] =>
  edits.filter(({ at, added, inside }) => {
    if (added === '"') return true;
    if (inside === undefined) return names.has(at);
    const construct = continued.get(inside);
    return construct !== undefined && at < construct.end;
  });

const columnOf = (text: string, at: number): number => {
  let from = at;
  while (from > 0 && at - from <= maxColumn && !/[\r\n]/.test(text.charAt(from - 1))) from -= 1;
  return at - from;
};

const nextLine = (text: string, from: number): number => {
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) return at + 1;
  }
  return text.length;
};

const indentOf = (text: string, at: number): number => {
  let end = at;
  while (text.charCodeAt(end) === 32) end += 1;
  return end - at;
};

/** Replaces tabs by spaces. */
export const withoutTabs = (text: string, tabs: readonly number[]): string => {
  const parts: string[] = [];
  let from = 0;
  for (const at of tabs) {
    parts.push(text.slice(from, at), ' ');
    from = at + 1;
  }
  return parts.join('') + text.slice(from);
};

/** Returns the tabs that are not part of a scalar, and can therefore be replaced by spaces. */
export const betweenScalars = (tabs: readonly number[], { scalars }: Constructs): number[] => {
  let index = 0;
  return tabs.filter(at => {
    while (index < scalars.length && (scalars[index]?.end ?? 0) <= at) index += 1;
    return at < (scalars[index]?.start ?? Number.POSITIVE_INFINITY);
  });
};
