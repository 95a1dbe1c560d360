import {
  type ChompingMode,
  EVENT_ID,
  type Event,
  type ScalarEvent,
  type ScalarStyle,
} from 'js-yaml';
import { yamlKind } from '../data/formats/yaml-kind.ts';
import { findKey } from '../data/values/key.ts';
import { markOrdered } from '../data/values/ordered.ts';
import { NodePositions, setPositions } from '../data/values/position.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { maxDepth } from './node.ts';
import type { Parsed } from './parse.ts';
import { decodeScalar, EventReader, type NodeEvent } from './reader.ts';
import { toFloat, toInt, yamlBool } from './scalar.ts';
import { SharedKeys } from './shared-keys.ts';
import { treeKinds, treeWidth } from './tree-kinds.ts';
import type { YamlSource } from './yaml-error.ts';

/** Changes when the meaning of the numbers does. */
export const treeFormat = `tree 1 ${treeWidth}`;

/** Longer scalars are seldom equal to others. */
const longestKnown = 40;

/**
 * Writes a text's tree as numbers: kinds and places in the text, none of its words. Its data is read
 * from them several times faster than from events.
 *
 * @param text - a part of the source
 * @param parsed - of that part
 * @returns undefined for what only `Composer` and `Constructor` read: anchors, tags, merge keys,
 *   several documents, errors; and for a text that was edited before it was parsed, whose places
 *   are others
 */
export const packTree = (
  source: YamlSource,
  text: string,
  { text: read, events }: Parsed,
): Int32Array<ArrayBuffer> | undefined => {
  if (read !== text) return undefined;
  try {
    return new TreePacker(source, text, events).pack();
  } catch (error) {
    if (error instanceof TsaltError) return undefined;
    throw error;
  }
};

type Open = { readonly record: number; readonly isDict: boolean; count: number };

class TreePacker {
  readonly #reader: EventReader;
  readonly #events: readonly Event[];
  readonly #packed: Int32Array<ArrayBuffer>;
  readonly #open: Open[] = [];
  readonly #known = new Map<string, number>();
  #scalars = 0;
  #end = 0;
  #documents = 0;

  constructor(source: YamlSource, text: string, events: readonly Event[]) {
    this.#reader = new EventReader(source, { text, events, sourceOffset: offset => offset });
    this.#events = events;
    this.#packed = new Int32Array(2 * treeWidth * events.length);
  }

  pack(): Int32Array<ArrayBuffer> | undefined {
    for (const event of this.#events) if (!this.#add(event)) return undefined;
    return this.#end === 0 ? undefined : this.#packed.slice(0, this.#end);
  }

  /** Returns false for what a tree cannot hold. */
  #add(event: Event): boolean {
    const read = this.#reader.next();
    switch (read.kind) {
      case 'document-start':
        this.#documents += 1;
        return this.#documents === 1;
      case 'document-end':
        return true;
      case 'end':
        this.#close();
        return true;
      case 'scalar':
        return event.type === EVENT_ID.SCALAR && isBare(event) && this.#scalar(event, read);
      case 'sequence':
      case 'mapping':
        return 'tagEnd' in event && isBare(event) && this.#begin(read);
      default:
        return false;
    }
  }

  #begin({ kind, at }: NodeEvent): boolean {
    const parent = this.#open.at(-1);
    // A key that is a list or dict is an error.
    if ((parent?.isDict && parent.count % 2 === 0) || this.#open.length >= maxDepth) return false;
    if (parent) parent.count += 1;
    const isDict = kind === 'mapping';
    this.#open.push({ record: this.#end, isDict, count: 0 });
    this.#write(isDict ? treeKinds.dict : treeKinds.list, at, 0, 0);
    return true;
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed) this.#packed[closed.record + 2] = closed.isDict ? closed.count / 2 : closed.count;
  }

  #scalar(event: ScalarEvent, { at, value, plain }: NodeEvent): boolean {
    if (plain && (value === '<<' || value === '=')) return false;
    const parent = this.#open.at(-1);
    if (parent) parent.count += 1;
    const name = `${plain ? ' ' : '"'}${value}`;
    const before = value.length > longestKnown ? undefined : this.#known.get(name);
    if (before !== undefined) {
      this.#write(treeKinds.known, at, before, 0);
      return true;
    }
    if (value.length <= longestKnown) this.#known.set(name, this.#scalars);
    this.#scalars += 1;
    const { valueStart, valueEnd, fast, style, chomping, indent } = event;
    if (valueStart < 0) this.#write(treeKinds.plain, at, 0, 0);
    else if (plain && fast) this.#write(treeKinds.plain, at, valueStart, valueEnd);
    else if (fast) this.#write(treeKinds.string, at, valueStart, valueEnd);
    else {
      this.#write(treeKinds.encoded, at, valueStart, valueEnd);
      this.#write(style, chomping, indent, Number(plain));
    }
    return true;
  }

  #write(...numbers: [number, number, number, number]): void {
    this.#packed.set(numbers, this.#end);
    this.#end += treeWidth;
  }
}

/** Without anchor and tag. */
const isBare = ({ anchorEnd, tagEnd }: { anchorEnd: number; tagEnd: number }): boolean =>
  anchorEnd < 0 && tagEnd < 0;

/** The data of a text, or of a part of it. */
export type YamlTree = {
  readonly data: Data;
  /** Offsets of its keys or items in the text: negative for items that are no scalars. */
  readonly offsets: readonly number[];
};

/**
 * Reads the data of a text from what `packTree` wrote.
 *
 * @param text - the part of the source that was packed
 * @param start - the offset of that part in the source
 * @returns undefined if the numbers do not fit the text, such as those of a damaged file, or if the
 *   text has an error, which `Constructor` reports
 */
export const readTree = (
  source: YamlSource,
  text: string,
  packed: Int32Array,
  start: number,
): YamlTree | undefined => {
  if (packed.length === 0 || packed.length % treeWidth !== 0) return undefined;
  try {
    return new TreeReader(source, text, packed, start).read();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
};

class Unreadable extends Error {}

class TreeReader {
  readonly #text: string;
  readonly #packed: Int32Array;
  readonly #start: number;
  readonly #ordered: boolean;
  readonly #locate: YamlSource['locate'];
  readonly #scalars: DataKey[] = [];
  readonly #keys = new SharedKeys();
  #at = 0;
  #depth = 0;
  /** Of the list or dict that was read last. */
  #offsets: readonly number[] = [];

  constructor(source: YamlSource, text: string, packed: Int32Array, start: number) {
    this.#text = text;
    this.#packed = packed;
    this.#start = start;
    this.#ordered = source.ordered;
    this.#locate = source.locate;
  }

  read(): YamlTree {
    const data = this.#node();
    if (this.#at !== this.#packed.length) throw new Unreadable();
    return { data, offsets: this.#offsets };
  }

  #node(): Data {
    const record = this.#at;
    const kind = this.#packed[record];
    if (kind !== treeKinds.list && kind !== treeKinds.dict) return this.#scalar();
    this.#at += treeWidth;
    const at = this.#number(record, 1) + this.#start;
    const count = this.#number(record, 2);
    // A damaged number would be a list of any length.
    if (count > this.#packed.length || this.#depth >= maxDepth) throw new Unreadable();
    this.#depth += 1;
    const data = kind === treeKinds.dict ? this.#dict(at, count) : this.#list(at, count);
    this.#depth -= 1;
    return data;
  }

  #dict(at: number, count: number): Dict {
    const dict: Dict = new Map();
    const keys = new Array<DataKey>(count);
    const offsets = new Array<number>(count);
    for (let index = 0; index < count; index += 1) {
      offsets[index] = this.#number(this.#at, 1) + this.#start;
      const key = this.#scalar();
      keys[index] = key;
      if (typeof key !== 'string' && findKey(dict, key) !== undefined) throw new Unreadable();
      dict.set(key, this.#node());
    }
    // A key that occurs twice.
    if (dict.size !== count) throw new Unreadable();
    if (this.#ordered) markOrdered(dict);
    const positions = new NodePositions(this.#locate, at, offsets, this.#keys.of(keys));
    setPositions(dict, positions);
    this.#offsets = offsets;
    return dict;
  }

  #list(at: number, count: number): Data[] {
    const list = new Array<Data>(count);
    const offsets = new Array<number>(count);
    for (let index = 0; index < count; index += 1) {
      const record = this.#at;
      const item = this.#node();
      list[index] = item;
      const isScalar = (this.#packed[record] as number) < treeKinds.list;
      offsets[index] = isScalar ? this.#number(record, 1) + this.#start : -1;
    }
    setPositions(list, new NodePositions(this.#locate, at, offsets));
    this.#offsets = offsets;
    return list;
  }

  #scalar(): DataKey {
    const record = this.#at;
    this.#at += treeWidth;
    const [first, second] = [this.#number(record, 2), this.#number(record, 3)];
    switch (this.#packed[record]) {
      case treeKinds.known: {
        const value = this.#scalars[first];
        if (value === undefined) throw new Unreadable();
        return value;
      }
      case treeKinds.plain:
        return this.#keep(plainValue(this.#slice(first, second)));
      case treeKinds.string:
        return this.#keep(this.#slice(first, second));
      case treeKinds.encoded:
        return this.#keep(this.#encoded(first, second));
      default:
        throw new Unreadable();
    }
  }

  #keep(value: DataKey): DataKey {
    this.#scalars.push(value);
    return value;
  }

  #slice(start: number, end: number): string {
    if (start > end) throw new Unreadable();
    return this.#text.slice(start, end);
  }

  #encoded(valueStart: number, valueEnd: number): DataKey {
    const record = this.#at;
    this.#at += treeWidth;
    if (valueStart > valueEnd || this.#at > this.#packed.length) throw new Unreadable();
    const [style, chomping, indent, plain] = this.#packed.subarray(record, this.#at);
    const value = decodeScalar(this.#text, {
      ...bareScalar,
      valueStart,
      valueEnd,
      style: style as ScalarStyle,
      chomping: chomping as ChompingMode,
      indent: indent as number,
    });
    return plain === 1 ? plainValue(value) : value;
  }

  /** Returns a number of a node: an offset, or a count. */
  #number(record: number, field: number): number {
    const number = this.#packed[record + field];
    if (number === undefined || number < 0 || number > this.#text.length) throw new Unreadable();
    return number;
  }
}

const bareScalar = {
  type: EVENT_ID.SCALAR,
  anchorStart: -1,
  anchorEnd: -1,
  tagStart: -1,
  tagEnd: -1,
  fast: false,
};

/** Returns the value of a scalar without quotes and tag. */
const plainValue = (text: string): DataKey => {
  switch (yamlKind(text)) {
    case 'str':
    case 'timestamp':
      return text;
    case 'null':
      return null;
    case 'bool':
      return yamlBool(text) ?? refuse();
    case 'int':
      return toInt(text) ?? refuse();
    case 'float':
      return toFloat(text) ?? refuse();
    default:
      return refuse();
  }
};

const refuse = (): never => {
  throw new Unreadable();
};
