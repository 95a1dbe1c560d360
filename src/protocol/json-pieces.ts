import { type Plain, type PlainDict, setOwn } from './plain.ts';
import { isWholeFloat, markWholeFloat } from './whole-floats.ts';

/** Reads complete JSON text, and completes a list or dict that was assembled from several texts. */
export type JsonTextReader = {
  readonly parse: (text: string) => unknown;
  readonly complete: (holder: object, key: string) => void;
};

/** A list or dict whose end has not been read. */
type Open = {
  readonly isList: boolean;
  /** Offset of its bracket. */
  readonly start: number;
  /** The part parsed so far; undefined while all of its text belongs to one piece. */
  value?: Plain[] | PlainDict;
  /** Offset of the text that is not parsed yet. */
  from: number;
  /** Offset of the current member. */
  member: number;
  /** Offset of the last colon. */
  colon: number;
  /** The member is parsed: only a comma or the end may follow. */
  isParsed: boolean;
};

/**
 * The open lists and dicts of a JSON text that is read piece by piece. Each byte is parsed once.
 */
export class JsonPieces {
  readonly #bytes: Buffer;
  readonly #reader: JsonTextReader;
  /** The text is the only member of an enclosing list. */
  readonly #stack: Open[] = [{ ...newOpen(true, -1), value: [] }];
  /** Offset of the text that is not in a piece yet. */
  #from = 0;

  constructor(bytes: Buffer, reader: JsonTextReader) {
    this.#bytes = bytes;
    this.#reader = reader;
  }

  /** Returns how many bytes before `at` are not parsed yet. */
  waiting(at: number): number {
    return at - this.#from;
  }

  /** Whether a string that begins here is the key of a dict. */
  isKey(): boolean {
    const { isList, colon, member } = this.#top;
    return !isList && colon < member;
  }

  open(at: number, isList: boolean): void {
    this.#stack.push(newOpen(isList, at));
  }

  colon(at: number): void {
    this.#top.colon = at;
  }

  comma(at: number): void {
    const top = this.#top;
    if (top.isParsed) {
      this.#expectBlank(top.from, at);
      top.from = at + 1;
      top.isParsed = false;
    }
    top.member = at + 1;
  }

  /** Parses the complete members of all open lists and dicts. */
  build(): void {
    for (const open of this.#stack) {
      open.value ??= open.isList ? [] : {};
      if (!open.isParsed && open.member > open.from) {
        this.#add(open, open.member - 1);
        open.from = open.member;
      }
      this.#from = open.from;
    }
  }

  /** Sets the value of the innermost current member, whose text is from `start` to `end`. */
  attach(value: Plain, start: number, end: number): void {
    const top = this.#top;
    const { value: into, isList, member, colon } = top;
    if (into === undefined || top.isParsed) throw malformed();
    this.#expectBlank(isList ? member : colon + 1, start);
    const key = isList ? String((into as Plain[]).length) : this.#key(member, colon);
    setOwn(into as PlainDict, key, value);
    this.#reader.complete(into, key);
    top.from = end;
    top.isParsed = true;
    this.#from = end;
  }

  close(at: number, isList: boolean): void {
    const top = this.#top;
    if (this.#stack.length < 2 || top.isList !== isList) throw malformed();
    if (top.value !== undefined) this.#finish(top, at);
    this.#stack.pop();
    if (top.value !== undefined) this.attach(top.value, top.start, at + 1);
  }

  /** @returns the value of the text, which is `length` bytes long */
  end(length: number): unknown {
    const [all] = this.#stack;
    if (this.#stack.length !== 1 || !all) throw malformed();
    this.#finish(all, length);
    const values = all.value as Plain[];
    if (values.length !== 1) throw malformed();
    return values[0];
  }

  get #top(): Open {
    return this.#stack.at(-1) as Open;
  }

  #finish(open: Open, at: number): void {
    const isEmpty = open.member === open.start + 1 && this.#isBlank(open.member, at);
    if (open.isParsed) this.#expectBlank(open.from, at);
    else if (!isEmpty) this.#add(open, at);
  }

  /** Parses the members up to `to`, the offset of a comma or of the end. */
  #add({ value, isList, from }: Open, to: number): void {
    if (this.#isBlank(from, to)) throw malformed();
    const part = this.#parse(from, to, isList);
    const into = value as PlainDict;
    let next = isList ? (value as Plain[]).length : 0;
    for (const key of Object.keys(part)) {
      const at = isList ? String(next++) : key;
      setOwn(into, at, (part as PlainDict)[key] as Plain);
      if (isWholeFloat(part, key)) markWholeFloat(into, at);
    }
  }

  #key(from: number, to: number): string {
    const key = to < from ? undefined : this.#parse(from, to, true);
    if (Array.isArray(key) && key.length === 1 && typeof key[0] === 'string') return key[0];
    throw malformed();
  }

  #parse(from: number, to: number, isList: boolean): Plain[] | PlainDict {
    const text = decoder.decode(this.#bytes.subarray(from, to));
    const parsed = this.#reader.parse(isList ? `[${text}]` : `{${text}}`);
    return parsed as Plain[] | PlainDict;
  }

  #expectBlank(from: number, to: number): void {
    if (!this.#isBlank(from, to)) throw malformed();
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) if (!blanks.has(this.#bytes[at] ?? 0)) return false;
    return true;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const blanks = new Set([0x20, 0x09, 0x0a, 0x0d]);

const newOpen = (isList: boolean, start: number): Open => ({
  isList,
  start,
  from: start + 1,
  member: start + 1,
  colon: -1,
  isParsed: false,
});

const malformed = (): SyntaxError => new SyntaxError('text that is not JSON');
