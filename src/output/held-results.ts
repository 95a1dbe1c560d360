import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostResult } from '../protocol/event.ts';
import { parseExact, stringify } from '../protocol/exact-json.ts';
import { sizeOf } from './size.ts';

/** A result that waits to be printed. */
export type Held = {
  /** The result without its data. */
  readonly about: HostResult;
  /** Characters, about. */
  readonly size: number;
  /** Returns the result. To be called once. */
  readonly take: () => HostResult;
};

/** Characters that stay in memory, of all results. */
const mostInMemory = 32_000_000;

/**
 * Results that wait to be printed: a fleet's may be larger than memory. What is beyond some
 * megabytes waits in a temporary file, which has no name any more once it is open.
 */
export class HeldResults {
  #inMemory = 0;
  #file: number | undefined;
  #end = 0;

  hold(result: HostResult): Held {
    const size = sizeOf(result);
    const { value: _, states, ...rest } = result;
    const about = states === undefined ? rest : { ...rest, states: {} };
    const take = size + this.#inMemory > mostInMemory ? this.#written(result) : undefined;
    if (take) return { about, size, take };
    this.#inMemory += size;
    return {
      about,
      size,
      take: () => {
        this.#inMemory -= size;
        return result;
      },
    };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#end = 0;
  }

  /** Returns undefined where it cannot be written: then it stays in memory. */
  #written(result: HostResult): (() => HostResult) | undefined {
    try {
      const { text, marked } = stringify(result);
      const bytes = Buffer.from(text);
      const { length } = bytes;
      this.#file ??= nameless();
      const file = this.#file;
      const begin = this.#end;
      for (let at = 0; at < length; ) at += writeSync(file, bytes, at, length - at, begin + at);
      this.#end = begin + length;
      return () => {
        const read = readAll(file, begin, length).toString();
        return (marked ? parseExact(read) : JSON.parse(read)) as HostResult;
      };
    } catch {
      return undefined;
    }
  }
}

const readAll = (file: number, begin: number, length: number): Buffer => {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(file, bytes, at, length - at, begin + at);
    if (count === 0) throw new Error('the temporary file of the results is too short');
    at += count;
  }
  return bytes;
};

const nameless = (): number => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-results-'));
  try {
    return openSync(join(folder, 'results'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
