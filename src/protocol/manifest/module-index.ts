import type { ManifestModule } from '../manifest.ts';
import { lineOf, namedLines } from './named-lines.ts';

type Named = Pick<ManifestModule, 'kind' | 'name' | 'virtual' | 'anyName'>;

/**
 * Returns the places of modules by `indexKey`: of their kind, and of each name that they may take; `*` for
 * those that compute theirs.
 */
export const placesByName = (modules: readonly Named[]): Map<string, number[]> => {
  const index = new Map<string, number[]>();
  for (const [at, { kind, name, virtual = [], anyName }] of modules.entries())
    for (const own of [...new Set([name, ...virtual]), ...(anyName ? ['*'] : [])]) {
      const key = indexKey(kind, own);
      const places = index.get(key);
      if (places) places.push(at);
      else index.set(key, [at]);
    }
  return index;
};

/** Names a module in an index. */
export const indexKey = (kind: string, name: string): string => `${kind} ${name}`;

/** Returns the index of modules as a text, for `placesIn`. */
export const moduleIndexText = (modules: readonly Named[]): string =>
  namedLines([...placesByName(modules)].map(([key, places]) => [key, String(places)]));

/** Returns the places of the modules that may take a name. */
export const placesIn = (index: string, kind: string, name: string): readonly number[] =>
  lineOf(index, indexKey(kind, name))?.split(',').map(Number) ?? [];
