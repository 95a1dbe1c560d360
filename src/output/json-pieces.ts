import type { Plain } from '../protocol/plain.ts';
import { textPieces } from '../protocol/text-pieces.ts';
import { bidiMarks } from '../protocol/unsafe-characters.ts';

/** Characters that are written at once. */
const pieceSize = 256 * 1024;

// Characters that JSON.stringify does not escape, but that a terminal interprets.
const unsafe = new RegExp(`[\\u007f-\\u009f\\u2028\\u2029${bidiMarks}]`, 'g');

/** Escapes characters that JSON.stringify does not, but that a terminal interprets. */
export const safeJson = (json: string): string =>
  json.replace(unsafe, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The maximum depth of a value that is written in pieces. */
const deepest = 1000;

/**
 * Writes a value as `JSON.stringify` does, in pieces: the text of a large value would need several
 * times its size in memory.
 *
 * @param indent - Columns of each level; 0 for one line.
 * @param level - Levels around the value.
 * @throws RangeError before anything is written, if the value is nested too deeply
 */
export const writeJson = (
  value: unknown,
  write: (text: string) => void,
  indent = 0,
  level = 0,
): void => {
  checkDepth(value);
  const writer = new Writer(write, indent);
  writer.value(value as Plain, level);
  writer.flush();
};

const checkDepth = (value: unknown): void => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) throw new RangeError(`it is nested deeper than ${deepest} levels`);
    const next: unknown[] = [];
    for (const item of level)
      if (typeof item === 'object' && item !== null)
        for (const member of Object.values(item))
          if (typeof member === 'object' && member !== null) next.push(member);
    level = next;
  }
};

class Writer {
  readonly #write: (text: string) => void;
  readonly #indent: number;
  #text = '';

  constructor(write: (text: string) => void, indent: number) {
    this.#write = write;
    this.#indent = indent;
  }

  flush(): void {
    if (this.#text !== '') this.#write(this.#text);
    this.#text = '';
  }

  value(value: unknown, level: number): void {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value !== 'object' || value === null)
      this.#add(JSON.stringify(value) ?? 'null');
    else if (Array.isArray(value)) {
      this.#add('[');
      for (const [at, item] of value.entries()) {
        this.#begin(at === 0, level + 1);
        this.value(item, level + 1);
      }
      this.#end(value.length === 0, ']', level);
    } else {
      this.#add('{');
      let isFirst = true;
      for (const [key, item] of Object.entries(value)) {
        if (item === undefined) continue;
        this.#begin(isFirst, level + 1);
        isFirst = false;
        this.#string(key);
        this.#add(this.#indent === 0 ? ':' : ': ');
        this.value(item, level + 1);
      }
      this.#end(isFirst, '}', level);
    }
  }

  #begin(isFirst: boolean, level: number): void {
    if (!isFirst) this.#add(',');
    this.#newLine(level);
  }

  #end(isEmpty: boolean, bracket: string, level: number): void {
    if (!isEmpty) this.#newLine(level);
    this.#add(bracket);
  }

  #newLine(level: number): void {
    if (this.#indent > 0) this.#add(`\n${' '.repeat(this.#indent * level)}`);
  }

  #string(text: string): void {
    this.#add('"');
    for (const piece of textPieces(text)) this.#add(safeJson(JSON.stringify(piece).slice(1, -1)));
    this.#add('"');
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length > pieceSize) this.flush();
  }
}
