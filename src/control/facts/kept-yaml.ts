import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { isUnwritable } from '../../trust/spare-cache.ts';
import { eventFormat, packEvents, parserVersion, unpackEvents } from '../../yaml/packed-events.ts';
import { treeFormat } from '../../yaml/packed-tree.ts';
import { SimilarTexts } from '../../yaml/similar-texts.ts';
import type { YamlCache } from '../../yaml/yaml-cache.ts';
import { pruneCache } from './prune-cache.ts';

type Packed = Int32Array<ArrayBuffer>;

/** Bytes in the folder, at most; further texts replace the oldest. */
const mostKept = 64_000_000;
/** Bytes that one run adds, at most. */
const mostAdded = 16_000_000;

/**
 * Keeps the structures of large YAML texts in `cachedir/yaml`, for later runs with the same texts. A
 * file is named by the hash of its text, and contains places within it. A folder that cannot be read
 * or written, or a damaged file, only costs time.
 */
export class KeptYaml implements YamlCache {
  readonly #cachedir: string;
  /** Contents of files, by name, to be written at the end of the run. */
  readonly #added = new Map<string, Uint8Array>();
  #size = 0;
  #isTrusted: boolean | undefined;

  constructor(cachedir: string) {
    this.#cachedir = cachedir;
  }

  readonly similar = new SimilarTexts();

  readonly trees: YamlCache['trees'] = {
    get: text => this.#read(treeFormat, text),
    put: (text, packed) => this.#add(treeFormat, text, packed),
  };

  readonly events: YamlCache['events'] = {
    get: text => {
      const packed = this.#read(eventFormat, text);
      return packed && unpackEvents(packed, text.length);
    },
    put: (text, events) => this.#add(eventFormat, text, packEvents(events)),
  };

  #read(format: string, text: string): Packed | undefined {
    if (!this.#mayRead()) return undefined;
    try {
      const { buffer } = new Uint8Array(readFileSync(join(this.#folder, nameOf(format, text))));
      return new Int32Array(buffer);
    } catch {
      return undefined;
    }
  }

  #add(format: string, text: string, packed: Packed | undefined): void {
    if (!packed || this.#size + packed.byteLength > mostAdded) return;
    this.#size += packed.byteLength;
    this.#added.set(nameOf(format, text), new Uint8Array(packed.buffer));
  }

  /** Writes what this run has added, and removes what is old. */
  async save(): Promise<void> {
    if (this.#added.size === 0) return;
    try {
      privateDir(join(privateDir(this.#cachedir), 'yaml'));
      for (const [name, content] of this.#added) {
        this.#added.delete(name);
        await writePrivate(join(this.#folder, name), content);
      }
      await pruneCache(this.#folder, mostKept);
    } catch (error) {
      isUnwritable(this.#cachedir, error);
    }
  }

  get #folder(): string {
    return join(this.#cachedir, 'yaml');
  }

  /** Whether nobody else can choose how a text is read. */
  #mayRead(): boolean {
    if (this.#isTrusted === undefined)
      try {
        privateDir(this.#cachedir);
        this.#isTrusted = true;
      } catch {
        this.#isTrusted = false;
      }
    return this.#isTrusted;
  }
}

const nameOf = (format: string, text: string): string =>
  createHash('sha256').update(`${parserVersion} ${format}`).update('\0').update(text).digest('hex');
