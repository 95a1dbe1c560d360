import type { TsaltError } from '../protocol/error.ts';
import type { Reader } from './reader.ts';
import { scannerFault } from './syntax-fault.ts';

type SimpleKey = {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  /** The number of the token that it would be. */
  readonly number: number;
  /** Whether the text makes no sense unless a `:` comes. */
  readonly required: boolean;
};

/** A key without `?` stands on one line and is no longer than this. */
const maxLength = 1024;

/** Each token looks at all open brackets. The composer refuses fewer levels than these. */
const maxDepth = 1000;

/**
 * What may turn out to be a key once a `:` follows: one place for the block, and one for each
 * bracket that is open.
 */
export class SimpleKeys {
  readonly #reader: Reader;
  readonly #levels: (SimpleKey | undefined)[] = [undefined];

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** How many brackets are open. */
  get depth(): number {
    return this.#levels.length - 1;
  }

  enter(): void {
    if (this.depth >= maxDepth)
      throw this.#reader.source.fault(
        'yaml-depth',
        `more than ${maxDepth} brackets are open`,
        this.#reader.offset,
      );
    this.#levels.push(undefined);
  }

  leave(): void {
    if (this.depth > 0) this.#levels.pop();
  }

  save(number: number, required: boolean): void {
    this.remove();
    const { offset, line, column } = this.#reader;
    this.#levels[this.depth] = { offset, line, column, number, required };
  }

  /** The key that a `:` here belongs to. */
  take(): SimpleKey | undefined {
    const key = this.#levels[this.depth];
    this.#levels[this.depth] = undefined;
    return key;
  }

  /** Gives up the innermost one, where what follows is no `:`. */
  remove(): void {
    const key = this.#levels[this.depth];
    if (key?.required) throw this.#missing(key);
    this.#levels[this.depth] = undefined;
  }

  /** Gives up those that are on an earlier line, or too far back. */
  dropStale(): void {
    const { line, column } = this.#reader;
    for (let level = this.#levels.length - 1; level >= 0; level -= 1) {
      const key = this.#levels[level];
      if (!key) continue;
      if (key.line === line && column - key.column <= maxLength) continue;
      if (key.required) throw this.#missing(key);
      this.#levels[level] = undefined;
    }
  }

  /** Whether a token may have to have a key before it. */
  mayBe(number: number): boolean {
    return this.#levels.some(key => key?.number === number);
  }

  #missing(key: SimpleKey): TsaltError {
    return scannerFault(this.#reader.source, "could not find expected ':'", this.#reader.offset, {
      doing: 'while scanning a simple key',
      since: key.offset,
    });
  }
}
