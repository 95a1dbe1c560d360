import { runSteps, type Steps } from '../data/steps.ts';
import { cutRanges, isOverfilled, isTouched, rangesOf, type TaintRange } from '../data/taint.ts';
import { findKey } from '../data/values/key.ts';
import { markOrdered } from '../data/values/ordered.ts';
import { NodePositions, setPositions } from '../data/values/position.ts';
import { type Data, type DataKey, type Dict, isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { Composer, refuseUnprintable } from './compose.ts';
import { Constructor } from './construct.ts';
import { type Block, blockAt, type Piece, piecesOf } from './cut-pieces.ts';
import { loadTree } from './load-tree.ts';
import { coreTags, type YamlNode } from './node.ts';
import type { YamlTree } from './packed-tree.ts';
import { keepEvents, movedBy, type Parsed, parsePiece } from './parse.ts';
import { EventReader } from './reader.ts';
import { taintError } from './scalar-taint.ts';
import { checkTaint } from './taint-check.ts';
import { YamlSource } from './yaml-error.ts';

/** Whether a text is worth loading in pieces to save memory. */
export const isLarge = ({ text, taint }: YamlSource): boolean => text.length >= 1_000_000 && !taint;

const usualSize = 250_000;

/** Limit of lines and items that are read without a pause if a host filled them. */
const mostItems = 25_000;

/**
 * Loads a large text piece by piece: the events and nodes of a text take ten times the memory of
 * its data. Only block mappings and sequences are cut, and only where no host chose the line end
 * and the indentation. Errors are left to the parser of whole texts, unless that would hold up all
 * else for as long as a host likes.
 *
 * @param pieceSize in characters
 * @yields after each piece, and after each part of a large piece
 * @returns undefined if the text cannot be cut or is invalid
 * @throws TsaltError only for a text that is too long to be parsed as a whole
 */
export const loadPieces = function* (
  source: YamlSource,
  pieceSize = usualSize,
): Steps<Data | undefined> {
  const data = yield* attemptPieces(source, pieceSize);
  if (data === undefined && isTooLong(source, 0, source.text.length)) throw tooLong(source, 0);
  return data;
};

const attemptPieces = function* (source: YamlSource, pieceSize: number): Steps<Data | undefined> {
  const start = contentStart(source);
  if (start === undefined) return undefined;
  try {
    refuseUnprintable(source);
    return yield* new PieceLoader(source, pieceSize).load(start, source.text.length);
  } catch (error) {
    // An error is reported as the parser of the whole text reports it.
    if (error instanceof TsaltError && !isTooLong(source, 0, source.text.length)) return undefined;
    throw error;
  }
};

const isTooLong = ({ text, taint }: YamlSource, start: number, end: number): boolean =>
  taint !== undefined && isOverfilled(text, taint.ranges, mostItems, start, end);

const tooLong = (source: YamlSource, offset: number): TsaltError =>
  source.fault(
    'yaml-long',
    `what ${source.taint?.owner} sent fills more than ${mostItems} lines or items, and they cannot be read in pieces`,
    offset,
    'Print less of what the host sent, or one entry of a mapping or list per line.',
  );

const header = /(?:[ \t]*(?:#[^\n]*)?\r?\n)*---[ \t]*\r?\n/y;

/** Returns the offset after the first `---`; undefined if there are directives or more documents. */
const contentStart = ({ text, taint }: YamlSource): number | undefined => {
  header.lastIndex = 0;
  header.exec(text);
  const start = header.lastIndex;
  if (taint && isTouched(taint.ranges, 0, start)) return undefined;
  const isOther = [/^(?:---|\.\.\.|%)/my, /\n(?:---|\.\.\.|%)/g].some(mark => {
    mark.lastIndex = start;
    return mark.test(text);
  });
  return isOther ? undefined : start;
};

/** Returns false if the mapping has the key already. */
type AddEntry = (key: DataKey, value: Data, at: number) => boolean;

type Loading<Value> = Steps<Value | undefined>;

class PieceLoader {
  readonly #source: YamlSource;
  readonly #composer: Composer;
  readonly #data: Constructor;
  readonly #pieceSize: number;

  constructor(source: YamlSource, pieceSize: number) {
    this.#source = source;
    this.#pieceSize = pieceSize;
    this.#composer = new Composer(source);
    this.#data = new Constructor(source, { shareStrings: true });
  }

  /** Returns the data of a block; undefined if it is something else. */
  *load(start: number, end: number): Loading<Data> {
    const block = blockAt(this.#source.text, start, end);
    if (!block || !this.#mayCut(block.first, block)) return undefined;
    return yield* block.kind === 'mapping' ? this.#mapping(block) : this.#sequence(block);
  }

  *#mapping(block: Block): Loading<Dict> {
    const dict: Dict = new Map();
    const keys: DataKey[] = [];
    const offsets: number[] = [];
    const add: AddEntry = (key, value, at) => {
      if (findKey(dict, key) !== undefined) return false;
      dict.set(key, value);
      keys.push(key);
      offsets.push(at);
      return true;
    };
    for (const piece of this.#pieces(block)) {
      yield;
      if (piece.end - piece.start > 2 * this.#pieceSize && (yield* this.#entry(piece, add)))
        continue;
      const part = yield* this.#part(piece);
      if (!part || !isDict(part.data)) return undefined;
      let index = 0;
      for (const [key, value] of part.data) {
        if (!add(key, value, part.offsets[index] ?? -1)) return undefined;
        index += 1;
      }
    }
    if (this.#source.ordered) markOrdered(dict);
    const [at = block.start] = offsets;
    setPositions(dict, new NodePositions(this.#source.locate, at, offsets, keys));
    return dict;
  }

  /** Adds an entry that is a line with a key and a block; false if it is something else. */
  *#entry({ start, end }: Piece, add: AddEntry): Steps<boolean> {
    const lineEnd = this.#source.text.indexOf('\n', start) + 1;
    const head = runSteps(this.#compose({ start, end: lineEnd }));
    const [pair, ...more] = head?.kind === 'mapping' ? head.pairs : [];
    if (!head || !pair || more.length > 0 || isMerge(pair[0].tag)) return false;
    const [{ at }, value] = pair;
    if (value.kind !== 'scalar' || value.value !== '' || value.tag !== coreTags.null) return false;
    if (!value.plain || this.#composer.hasAnchor(value)) return false;
    const data = yield* this.load(lineEnd, end);
    const [key] = data === undefined ? [] : (this.#data.construct(head) as Dict).keys();
    return key !== undefined && data !== undefined && add(key, data, at);
  }

  *#sequence(block: Block): Loading<Data[]> {
    const list: Data[] = [];
    const offsets: number[] = [];
    for (const piece of this.#pieces(block)) {
      yield;
      const part = yield* this.#part(piece);
      if (!part || !Array.isArray(part.data)) return undefined;
      for (const offset of part.offsets) offsets.push(offset);
      for (const item of part.data) list.push(item);
    }
    setPositions(list, new NodePositions(this.#source.locate, block.first + block.indent, offsets));
    return list;
  }

  #pieces(block: Block): Iterable<Piece> {
    return piecesOf(this.#source.text, block, this.#pieceSize, at => this.#mayCut(at, block));
  }

  /** A host must choose neither where the line of an entry begins nor how far it is indented. */
  #mayCut(line: number, { indent }: Block): boolean {
    const { taint } = this.#source;
    return !taint || !isTouched(taint.ranges, line - 1, line + indent);
  }

  /** Returns the data of whole entries; undefined if they are something else. */
  *#part({ start, end }: Piece): Loading<YamlTree> {
    const { tree, parsed } = loadTree(this.#source, start, end);
    if (tree) return tree;
    const node = yield* this.#compose({ start, end }, parsed);
    if (!node || node.kind === 'scalar') return undefined;
    if (node.kind === 'sequence') {
      const offsets = node.items.map(item => (item.kind === 'scalar' ? item.at : -1));
      return { data: yield* this.#data.constructInSteps(node), offsets };
    }
    if (node.pairs.some(([{ tag }]) => isMerge(tag))) return undefined;
    const offsets = node.pairs.map(([key]) => key.at);
    return { data: yield* this.#data.constructInSteps(node), offsets };
  }

  *#compose({ start, end }: Piece, known?: Parsed): Loading<YamlNode> {
    if (isTooLong(this.#source, start, end)) throw tooLong(this.#source, start);
    const parsed =
      known ?? (yield* this.#checked(start, end)) ?? parsePiece(this.#source, start, end);
    keepEvents(this.#source, parsed);
    yield;
    const reader = new EventReader(this.#source, parsed);
    reader.next();
    const node = yield* this.#composer.document(reader);
    return reader.next().kind === 'stream-end' ? node : undefined;
  }

  /** Returns the events that the taint check parsed, if it had to parse. */
  *#checked(start: number, end: number): Loading<Parsed> {
    const source = this.#source;
    const { taint } = source;
    const inside = taint && rangesOf(cutRanges(taint.ranges, start, end));
    if (!inside) return undefined;
    const piece = new YamlSource(source.text.slice(start, end), { cache: source.cache });
    const refuse = (range: TaintRange): never => {
      throw taintError(source, taint, range, range.start + start);
    };
    const parsed = yield* checkTaint(piece, inside, refuse);
    return parsed && movedBy(start, parsed);
  }
}

const isMerge = (tag: string): boolean => tag === coreTags.merge || tag === coreTags.value;
