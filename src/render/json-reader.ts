import { type Data, type Dict, Float } from '../data/values/value.ts';

const maxDepth = 500;
const words = new Map<string, Data>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', new Float(Number.NaN)],
  ['Infinity', new Float(Number.POSITIVE_INFINITY)],
  ['-Infinity', new Float(Number.NEGATIVE_INFINITY)],
]);

/**
 * Reads JSON into Data. `JSON.parse` loses `1.0`, large ints, and the order of keys that look like
 * numbers. Errors are SyntaxErrors with the offset as their cause.
 */
export class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Data {
    const value = this.#value(0);
    this.#blank();
    if (this.#at < this.#text.length) throw this.#fault('Extra data');
    return value;
  }

  #value(depth: number): Data {
    if (depth > maxDepth) throw this.#fault(`nested deeper than ${maxDepth} levels`);
    this.#blank();
    const char = this.#text.charAt(this.#at);
    if (char === '{') return this.#dict(depth);
    if (char === '[') return this.#list(depth);
    if (char === '"') return this.#string();
    return this.#number() ?? this.#word();
  }

  #dict(depth: number): Dict {
    const dict: Dict = new Map();
    this.#at += 1;
    this.#blank();
    if (this.#take('}')) return dict;
    do {
      this.#blank();
      if (this.#text.charAt(this.#at) !== '"')
        throw this.#fault('Expecting property name enclosed in double quotes');
      const key = this.#string();
      this.#blank();
      if (!this.#take(':')) throw this.#fault("Expecting ':' delimiter");
      dict.set(key, this.#value(depth + 1));
      this.#blank();
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#fault("Expecting ',' delimiter");
    return dict;
  }

  #list(depth: number): Data[] {
    const list: Data[] = [];
    this.#at += 1;
    this.#blank();
    if (this.#take(']')) return list;
    do {
      list.push(this.#value(depth + 1));
      this.#blank();
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#fault("Expecting ',' delimiter");
    return list;
  }

  #string(): string {
    const pattern = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined)
      throw this.#fault('Unterminated string, bad escape or control character');
    this.#at += found.length;
    return JSON.parse(found) as string;
  }

  #number(): Data | undefined {
    const pattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return undefined;
    this.#at += found[0].length;
    const value = Number(found[0]);
    if (found[1] !== undefined || found[2] !== undefined)
      return Number.isInteger(value) || !Number.isFinite(value) ? new Float(value) : value;
    return Number.isSafeInteger(value) ? value : BigInt(found[0]);
  }

  #word(): Data {
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#fault('Expecting value');
  }

  #blank(): void {
    const pattern = /[ \t\r\n]*/y;
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }

  #take(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at += 1;
    return true;
  }

  #fault(message: string): SyntaxError {
    return new SyntaxError(message, { cause: this.#at });
  }
}
