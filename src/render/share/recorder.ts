import type { Data, DataKey, Dict } from '../../data/values/value.ts';
import { chanceUses } from '../chance.ts';
import type { RenderContext } from '../types.ts';
import {
  copyOfCall,
  DependencyTrace,
  markOfCall,
  type RecordedCall,
  type RecordedRead,
} from './places.ts';

/** A look, and what it saw. */
export type Seen = { readonly look: RecordedRead; readonly mark: string };

const mostLooks = 10_000;

/**
 * Writes down what a template looks at while it is rendered for one host: its looks, in order,
 * and what they saw. What the template's text comes to depends on nothing else, as long as
 * `isWhole` says so.
 */
export class Recorder {
  readonly seen: Seen[] = [];
  readonly #context: RenderContext;
  readonly #places: DependencyTrace;
  readonly #items = new Map<number, Set<DataKey>>();
  readonly #done = new Set<string>();
  readonly #chance = chanceUses();
  #hasGivenUp = false;

  constructor(context: RenderContext) {
    this.#context = context;
    this.#places = new DependencyTrace(context);
  }

  /** False where the template did what cannot be written down, or used randomness or the clock. */
  get isWhole(): boolean {
    return !this.#hasGivenUp && this.#chance === chanceUses();
  }

  /** The template depends on what cannot be looked at again: `include … ignore missing`. */
  giveUp(): void {
    this.#hasGivenUp = true;
  }

  /** One item of a dictionary or list of the context. */
  item(from: object, key: DataKey): void {
    const of = this.#places.numberOf(from);
    if (of === undefined) return;
    const known = this.#items.get(of) ?? new Set();
    if (known.has(key)) return;
    this.#items.set(of, known.add(key));
    this.#look({ kind: 'item', of, key });
  }

  /** Which keys a dictionary has, or how long a list is. */
  keys(from: object): void {
    this.#once('keys', from);
  }

  /** A collection with all that is in it. */
  whole(from: object): void {
    this.#once('whole', from);
  }

  /** The text of a file of the roots. */
  file(path: string, saltenv: string): void {
    const name = `file ${saltenv}\0${path}`;
    if (this.#done.has(name)) return;
    this.#done.add(name);
    this.#look({ kind: 'file', path, saltenv });
  }

  /** Calls a function for the template. Only what changes nothing can be asked again. */
  call = async (fun: string, args: Data[], kwargs: Dict): Promise<Data> => {
    if (!(await this.#context.onlyLooks?.(fun))) this.#hasGivenUp = true;
    if (this.#hasGivenUp) return this.#context.call(fun, args, kwargs);
    const call = copyOfCall({ fun, args, kwargs });
    try {
      const result = await this.#context.call(fun, args, kwargs);
      const mark = markOfCall(
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
