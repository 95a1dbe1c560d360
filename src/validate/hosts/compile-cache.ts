import type { SharedFiles } from '../../control/facts/shared.ts';
import type { RenderedSls } from '../../data/sls.ts';
import type { CompiledStates } from './compile-tree.ts';
import { UnchangedSls } from './unchanged-sls.ts';

/** The text of an SLS, with everything that it was made from. */
export type SlsText = {
  readonly rendered: string;
  /** The template, which may change without changing the rendered text. */
  readonly written: string;
  readonly place: string;
  /** The files that it imported, to which positions may lead; undefined if they are not known. */
  readonly imported: readonly string[] | undefined;
};

/** A text of an SLS, and what it was read as for hosts of a profile. */
export type KnownText = { readonly id: number; readonly byProfile: Map<string, RenderedSls> };

type StoredText = KnownText & Pick<SlsText, 'written' | 'imported'> & { readonly pass: number };

/**
 * Results for other hosts: documents by their rendered text, states by all of their SLS. A check
 * that is repeated keeps what the last one used.
 */
export class CompileCache {
  /** The files of the last check, for one that is repeated while the configuration is the same. */
  files: SharedFiles | undefined;
  readonly unchanged = new UnchangedSls();
  readonly states = new Generations<string, CompiledStates>();
  readonly #texts = new Generations<string, Map<string, StoredText>>();
  #next = 0;
  #pass = 0;

  /** Begins the check of all hosts once more. What the check before this one did not use is dropped. */
  begin(): void {
    this.#pass += 1;
    this.states.begin();
    this.#texts.begin();
  }

  /** Returns the entry of a text. Texts of several hosts are usually one string. */
  text({ rendered, written, place, imported }: SlsText): KnownText {
    const places = this.#texts.get(rendered) ?? new Map<string, StoredText>();
    this.#texts.set(rendered, places);
    const before = places.get(place);
    if (before?.written === written && this.#hasSameFiles(before, imported)) return before;
    const byProfile = new Map<string, RenderedSls>();
    const known = { id: this.#next++, byProfile, written, imported, pass: this.#pass };
    places.set(place, known);
    return known;
  }

  /** No file changes during one check. */
  #hasSameFiles({ imported: before, pass }: StoredText, now: SlsText['imported']): boolean {
    if (pass === this.#pass) return true;
    return (
      before?.length === now?.length && before?.every((text, at) => text === now?.[at]) === true
    );
  }
}

/** A map that forgets what was not used since the last beginning but one. */
class Generations<Key, Value> {
  #before = new Map<Key, Value>();
  #now = new Map<Key, Value>();

  begin(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  get(key: Key): Value | undefined {
    const found = this.#now.get(key) ?? this.#before.get(key);
    if (found !== undefined) this.#now.set(key, found);
    return found;
  }

  set(key: Key, value: Value): void {
    this.#now.set(key, value);
  }
}
