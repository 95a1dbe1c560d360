/** A block of a text whose entries all begin at one column: of a mapping, or of a sequence. */
export type Block = {
  readonly kind: 'mapping' | 'sequence';
  /** Spaces before each entry. */
  readonly indent: number;
  readonly start: number;
  /** The offset of the line of its first entry. */
  readonly first: number;
  readonly end: number;
};

/** Whole entries of a block. */
export type Piece = { readonly start: number; readonly end: number };

const blankLines = /(?:[ \t]*(?:#[^\n]*)?\r?\n)*/y;
const firstEntry = /( *)(?:(-)(?=[ \r\n])|[\w/"'.])/y;

/**
 * Returns the block that begins in a part of the text, judged by its first entry only: whoever
 * parses the pieces checks that each one is a mapping or sequence.
 */
export const blockAt = (text: string, start: number, end: number): Block | undefined => {
  blankLines.lastIndex = start;
  blankLines.exec(text);
  const first = blankLines.lastIndex;
  firstEntry.lastIndex = first;
  const [, spaces = '', dash] = firstEntry.exec(text) ?? [undefined];
  if (firstEntry.lastIndex === 0 || firstEntry.lastIndex > end) return undefined;
  return { kind: dash ? 'sequence' : 'mapping', indent: spaces.length, start, first, end };
};

/**
 * Cuts a block before lines that look like the start of an entry. Such a line may be inside a quoted
 * string or between brackets; the piece before it is then not valid YAML by itself.
 *
 * @param size of a piece in characters; entries that are larger are pieces of their own
 * @param mayCut whether the text may be cut at an offset
 */
export const piecesOf = function* (
  text: string,
  block: Block,
  size: number,
  mayCut: (at: number) => boolean,
): Generator<Piece> {
  let start = block.start;
  let last = start;
  for (const at of entriesOf(text, block)) {
    if (!mayCut(at)) continue;
    if (at - start > size) {
      if (last > start) yield { start, end: last };
      start = last;
      if (at - start > size) {
        yield { start, end: at };
        start = at;
      }
    }
    last = at;
  }
  if (last > start && block.end - start > size) {
    yield { start, end: last };
    start = last;
  }
  yield { start, end: block.end };
};

/** The offsets of the lines that may begin an entry, without the first. */
const entriesOf = function* (text: string, { kind, indent, start, end }: Block) {
  let isFirst = true;
  for (let at = start; at < end; at = nextLine(text, at)) {
    let column = 0;
    while (column < indent && text.charCodeAt(at + column) === 0x20) column += 1;
    if (column < indent || !isEntry(text, at + column, kind)) continue;
    if (!isFirst) yield at;
    isFirst = false;
  }
};

const nextLine = (text: string, at: number): number => text.indexOf('\n', at) + 1 || text.length;

const isEntry = (text: string, at: number, kind: Block['kind']): boolean => {
  if (kind === 'mapping') return /[\w/"'.]/.test(text.charAt(at));
  return text[at] === '-' && /[ \r\n]/.test(text.charAt(at + 1));
};
