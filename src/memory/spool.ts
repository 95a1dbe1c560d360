import { close, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes in a temporary file, which is unlinked as soon as it is open. */
export class Spool {
  #file: number | undefined;
  #end = 0;

  /** Bytes written so far. */
  get size(): number {
    return this.#end;
  }

  /** Appends bytes. Throws if no temporary file can be written; earlier bytes stay. */
  write(bytes: Uint8Array): void {
    this.#file ??= nameless();
    let at = 0;
    while (at < bytes.length)
      at += writeSync(this.#file, bytes, at, bytes.length - at, this.#end + at);
    this.#end += bytes.length;
  }

  /** Reads bytes into a buffer, from its start. */
  readInto(bytes: Uint8Array, begin: number, length: number): void {
    for (let at = 0; at < length; ) {
      const count = this.#file && readSync(this.#file, bytes, at, length - at, begin + at);
      if (!count) throw new Error('a temporary file is too short');
      at += count;
    }
  }

  close(): void {
    // Freeing tens of megabytes takes the system a tenth of a second.
    if (this.#file !== undefined) close(this.#file, () => undefined);
    this.#file = undefined;
    this.#end = 0;
  }
}

const nameless = (): number => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-results-'));
  try {
    return openSync(join(folder, 'results'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
