import { Spool } from '../memory/spool.ts';
import type { HostResult } from '../protocol/event.ts';
import { parseExact, stringify } from '../protocol/exact-json.ts';
import { bytePieces, scratchBuffer } from '../protocol/text-pieces.ts';
import { resultSize } from './size.ts';

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
const mostInMemory = 8_000_000;

/**
 * Results that wait to be printed: those of a fleet may exceed memory. Beyond some megabytes they
 * are stored in a temporary file, which is unlinked as soon as it is open.
 */
export class HeldResults {
  #inMemory = 0;
  readonly #spool = new Spool();

  hold(result: HostResult): Held {
    const size = resultSize(result);
    const about = withoutContent(result);
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
    this.#spool.close();
  }

  /** Returns undefined if it cannot be written: then the result stays in memory. */
  #written(result: HostResult): (() => HostResult) | undefined {
    try {
      const strings: Written[] = [];
      const { text, marked } = stringify(result, string => {
        if (!isApart(string)) return string;
        strings.push(this.#writeText(string));
        return `${apart}${strings.length - 1}`;
      });
      const rest = this.#writeText(text);
      const complete = (_: string, value: unknown): unknown => {
        if (typeof value !== 'string' || !value.startsWith(apart)) return value;
        const written = strings[Number(value.slice(apart.length))];
        return written === undefined ? value : this.#read(written);
      };
      return () => {
        const read = this.#read(rest);
        // A function that is called for each value takes longer than the parsing itself.
        const completed = strings.length > 0 ? complete : undefined;
        return (marked ? parseExact(read, completed) : JSON.parse(read, completed)) as HostResult;
      };
    } catch {
      return undefined;
    }
  }

  #writeText(text: string): Written {
    const begin = this.#spool.size;
    const pieces: number[] = [];
    bytePieces(text, bytes => {
      this.#spool.write(bytes);
      pieces.push(bytes.length);
    });
    return { begin, pieces };
  }

  #read({ begin, pieces }: Written): string {
    const bytes = scratchBuffer();
    let text = '';
    let at = begin;
    for (const length of pieces) {
      this.#spool.readInto(bytes, at, length);
      text += bytes.toString('utf8', 0, length);
      at += length;
    }
    return text;
  }
}

const withoutContent = ({ value: _, states, ...rest }: HostResult): HostResult =>
  states === undefined ? rest : { ...rest, states: {} };

/** Drops the data of a result, where nothing shows it. */
export const heldWithoutContent = (result: HostResult): Held => {
  const about = withoutContent(result);
  return { about, size: 0, take: () => about };
};

/** Where a text is in the file: the bytes of each of its pieces. */
type Written = { readonly begin: number; readonly pieces: readonly number[] };

/**
 * Begins a placeholder for a string that is written separately, to avoid JSON text of its length.
 */
const apart = '\u0000';

/**
 * Whether a string is written separately. UTF-8 cannot represent lone surrogates: such strings stay
 * in the JSON text, which escapes them.
 */
const isApart = (text: string): boolean =>
  text.startsWith(apart) || (text.length > 65_536 && !/[\ud800-\udfff]/u.test(text));
