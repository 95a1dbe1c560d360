import type { Source } from './fault.ts';
import { tagPrefix } from './node.ts';
import { parserFault } from './syntax-fault.ts';
import type { Token } from './token.ts';

/** What `!`, `!!` and the handles of `%TAG` stand for in a document. */
export class TagHandles {
  readonly #source: Source;
  readonly #prefixes = new Map<string, string>();
  #hasVersion = false;

  constructor(source: Source) {
    this.#source = source;
  }

  /** A document begins: none of the last one's directives holds. */
  begin(): void {
    this.#prefixes.clear();
    this.#hasVersion = false;
  }

  /** Takes a `%YAML` or `%TAG` line. */
  add({ kind, start, value, handle }: Token): void {
    if (kind === 'directive') {
      if (this.#hasVersion)
        throw parserFault(this.#source, 'found duplicate %YAML directive', start);
      if (value !== '1.1' && value !== '1.2')
        throw parserFault(this.#source, 'found incompatible YAML document', start);
      this.#hasVersion = true;
    } else {
      if (this.#prefixes.has(handle))
        throw parserFault(this.#source, 'found duplicate %TAG directive', start);
      this.#prefixes.set(handle, value);
    }
  }

  /** A tag in full, for a node at `at`. */
  resolve({ start, value, handle }: Token, at: number): string {
    if (handle === '') return value;
    const prefix = this.#prefixes.get(handle) ?? defaults.get(handle);
    if (prefix === undefined)
      throw parserFault(this.#source, 'found undefined tag handle', start, {
        doing: 'while parsing a node',
        since: at,
      });
    return prefix + value;
  }
}

const defaults: ReadonlyMap<string, string> = new Map([
  ['!', '!'],
  ['!!', tagPrefix],
]);
