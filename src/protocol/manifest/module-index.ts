import type { ManifestModule } from '../manifest.ts';
import { lineOf, namedLines } from './named-lines.ts';

type Named = Pick<ManifestModule, 'kind' | 'name' | 'virtual' | 'anyName'>;

/** Names under which a module is found; `*` if it computes its own. */
export const possibleNames = ({ name, virtual = [], anyName }: Named): readonly string[] => [
  ...new Set([name, ...virtual]),
  ...(anyName ? ['*'] : []),
];

/** Returns an index of modules, for `placesIn`: for each kind and name the places of those that may take it. */
export const moduleIndexText = (modules: readonly Named[]): string => {
  const places = new Map<string, number[]>();
  for (const [at, module] of modules.entries())
    for (const name of possibleNames(module)) {
      const key = `${module.kind} ${name}`;
      places.set(key, [...(places.get(key) ?? []), at]);
    }
  return namedLines([...places].map(([key, found]) => [key, String(found)]));
};

/** Returns the places of the modules that may take a name. */
export const placesIn = (index: string, kind: string, name: string): readonly number[] =>
  lineOf(index, `${kind} ${name}`)?.split(',').map(Number) ?? [];
