import { requisiteLocation } from '../../compiler/chunks.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { globTest, isGlob } from '../../data/python/glob.ts';
import { type SourceLocation, showLocation } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { requisiteKeywords } from '../../protocol/state-keywords.ts';

const kinds = requisiteKeywords.filter(kind => kind !== 'onfail_stop' && kind !== 'listen');

/** A requisite that names no state of the run. */
export type LostRequisite = { readonly message: string; readonly at: SourceLocation | undefined };

/**
 * Returns one sentence for each requisite that names no state of the run, with its position and the
 * closest match. The state fails on the host, where Salt's comment has neither.
 */
export const lostRequisites = (chunks: readonly LowChunk[]): string[] =>
  findLost(chunks).map(({ message, at }) => `${message}.${at ? ` (${showLocation(at)})` : ''}`);

/** Finds the requisites that name no state of the run. */
export const findLost = (chunks: readonly LowChunk[]): LostRequisite[] => {
  /** Made when the first requisite is found. */
  let names: Names | undefined;
  const lost: LostRequisite[] = [];
  for (const chunk of chunks)
    for (const kind of kinds) {
      const list = chunk[kind];
      if (!Array.isArray(list)) continue;
      names ??= new Names(chunks);
      for (const [at, item] of list.entries()) {
        const { key, value } = requisite(item);
        if (typeof value !== 'string' || names.has(key, value)) continue;
        const message = `'${kind}' of ID '${chunk.__id__}' in SLS '${chunk.__sls__}' names '${key}: ${value}', which is not a state of this run${names.hint(key, value)}`;
        lost.push({ message, at: requisiteLocation(chunk, kind, at) });
      }
    }
  return lost;
};

const requisite = (item: Plain): { readonly key: string; readonly value: Plain } => {
  if (!isPlainDict(item)) return { key: 'id', value: item };
  const [key = 'id', value = null] = Object.entries(item)[0] ?? [];
  return { key: key.split('.')[0] ?? key, value };
};

/**
 * The IDs and names of a run by state module; under `id` those of all modules, under `sls` files.
 */
class Names {
  readonly #byKey = new Map<string, Set<string>>();

  constructor(chunks: readonly LowChunk[]) {
    for (const { state, name, __id__, __sls__ } of chunks) {
      for (const one of [__id__, name]) {
        this.#add(state, one);
        this.#add('id', one);
      }
      this.#add('sls', __sls__);
    }
  }

  has(key: string, value: string): boolean {
    const names = this.#byKey.get(key) ?? new Set();
    if (names.has(value)) return true;
    return isGlob(value) && [...names].some(globTest(value));
  }

  hint(key: string, value: string): string {
    const meant = closestMatch(value, this.#byKey.get(key) ?? []);
    if (meant !== undefined) return ` (did you mean '${key}: ${meant}'?)`;
    const other = [...this.#byKey].find(
      ([state, names]) => state !== 'id' && state !== 'sls' && names.has(value),
    );
    return other ? ` (did you mean '${other[0]}: ${value}'?)` : '';
  }

  #add(key: string, name: Plain): void {
    if (typeof name !== 'string') return;
    const names = this.#byKey.get(key);
    if (names) names.add(name);
    else this.#byKey.set(key, new Set([name]));
  }
}
