import type { Data, DataKey, Dict } from '../../data/values/value.ts';
import { nondeterminismUses } from '../nondeterminism.ts';
import type { RenderContext } from '../types.ts';
import {
  callFingerprint,
  copyOfCall,
  DependencyTrace,
  type RecordedCall,
  type RecordedRead,
} from './dependency-trace.ts';

/** A read, and the fingerprint of its value. */
export type ReadWithFingerprint = { readonly look: RecordedRead; readonly mark: string };

const mostLooks = 10_000;

/**
 * Records the reads of a template while it is rendered for one host, in order, with fingerprints of
 * the values. The template's output depends on nothing else, as long as `isWhole` is true.
 */
export class Recorder {
  readonly seen: ReadWithFingerprint[] = [];
  readonly #context: RenderContext;
  readonly #places: DependencyTrace;
  readonly #items = new Map<number, Set<DataKey>>();
  readonly #done = new Set<string>();
  readonly #chance = nondeterminismUses();
  #hasGivenUp = false;

  constructor(context: RenderContext) {
    this.#context = context;
    this.#places = new DependencyTrace(context);
  }

  /**
   * False if the template did something that cannot be recorded, or used randomness or the clock.
   */
  get isWhole(): boolean {
    return !this.#hasGivenUp && this.#chance === nondeterminismUses();
  }

  /**
   * Gives up: the template depends on something that cannot be read again, as in `include … ignore
   * missing`.
   */
  giveUp(): void {
    this.#hasGivenUp = true;
  }

  /** Records the read of one item of a dictionary or list of the context. */
  item(from: object, key: DataKey): void {
    const of = this.#places.numberOf(from);
    if (of === undefined) return;
    const known = this.#items.get(of) ?? new Set();
    if (known.has(key)) return;
    this.#items.set(of, known.add(key));
    this.#look({ kind: 'item', of, key });
  }

  /** Records the read of a dictionary's keys or a list's length. */
  keys(from: object): void {
    this.#once('keys', from);
  }

  /** Records the read of a collection with all its contents. */
  whole(from: object): void {
    this.#once('whole', from);
  }

  /** Records the read of a file of the roots. */
  file(path: string, saltenv: string): void {
    const name = `file ${saltenv}\0${path}`;
    if (this.#done.has(name)) return;
    this.#done.add(name);
    this.#look({ kind: 'file', path, saltenv });
  }

  /** Calls a function for the template. Only calls without side effects can be repeated. */
  call = async (fun: string, args: Data[], kwargs: Dict): Promise<Data> => {
    if (!(await this.#context.onlyLooks?.(fun))) this.#hasGivenUp = true;
    if (this.#hasGivenUp) return this.#context.call(fun, args, kwargs);
    const call = copyOfCall({ fun, args, kwargs });
    try {
      const result = await this.#context.call(fun, args, kwargs);
      const mark = callFingerprint(
        { fun, args, kwargs } satisfies RecordedCall,
        result,
        this.#context.taint,
      );
      this.#note({ kind: 'call', call }, mark);
      return result;
    } catch (error) {
      this.#hasGivenUp = true;
      throw error;
    }
  };

  #once(kind: 'keys' | 'whole', from: object): void {
    const of = this.#places.numberOf(from);
    const name = `${kind} ${of}`;
    if (of === undefined || this.#done.has(name)) return;
    this.#done.add(name);
    this.#look({ kind, of });
  }

  #look(look: RecordedRead): void {
    if (this.#hasGivenUp) return;
    const mark = this.#places.see(look);
    if (typeof mark === 'string') this.#note(look, mark);
    else this.#hasGivenUp = true;
  }

  #note(look: RecordedRead, mark: string): void {
    this.seen.push({ look, mark });
    if (this.seen.length > mostLooks) this.#hasGivenUp = true;
  }
}
