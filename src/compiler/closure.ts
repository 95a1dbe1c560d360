import { fnmatch, isGlob } from '../data/python/glob.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';

const pulling: readonly string[] = [
  'require',
  'require_any',
  'watch',
  'watch_any',
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'prereq',
];

/**
 * Returns the chunks of an ID and all that their requisites lead to, in order: what `state.sls_id`
 * runs.
 */
export const closureOf = (chunks: readonly Dict[], id: string): Dict[] => {
  const find = finder(chunks);
  const wanted = new Set(chunks.filter(chunk => chunk.get('__id__') === id));
  const open = [...wanted];
  const followed = new Set<string>();
  for (let chunk = open.pop(); chunk; chunk = open.pop())
    for (const requisite of requisitesOf(chunk)) {
      const text = JSON.stringify(requisite);
      if (followed.has(text)) continue;
      followed.add(text);
      for (const other of find(requisite))
        if (!wanted.has(other)) {
          wanted.add(other);
          open.push(other);
        }
    }
  return chunks.filter(chunk => wanted.has(chunk));
};

type Requisite = { readonly state: string | undefined; readonly name: string };

const requisitesOf = (chunk: Dict): Requisite[] =>
  pulling.flatMap(key => {
    const list = chunk.get(key);
    return (Array.isArray(list) ? list : []).map(readRequisite);
  });

const readRequisite = (item: Data): Requisite => {
  const [state, name] = isDict(item) ? ([...item][0] ?? []) : [];
  return state === undefined
    ? { state: undefined, name: pyStr(item) }
    : { state: pyStr(state), name: pyStr(name ?? null) };
};

/** Finds the chunks that a requisite names: plain names by an index, globs by comparing all. */
const finder = (chunks: readonly Dict[]): ((requisite: Requisite) => readonly Dict[]) => {
  const indexes = new Map(
    ['__id__', 'name', '__sls__'].map(key => [key, indexBy(chunks, key)] as const),
  );
  return ({ state, name }) => {
    const called = (key: string): readonly Dict[] =>
      isGlob(name)
        ? chunks.filter(chunk => fnmatch(textOf(chunk, key), name))
        : (indexes.get(key)?.get(name) ?? []);
    if (state === 'sls') return called('__sls__');
    const isState = (chunk: Dict): boolean =>
      state === undefined || state === 'id' || chunk.get('state') === state;
    return [...called('__id__'), ...called('name')].filter(isState);
  };
};

const indexBy = (chunks: readonly Dict[], key: string): Map<string, Dict[]> => {
  const index = new Map<string, Dict[]>();
  for (const chunk of chunks) {
    const text = textOf(chunk, key);
    const same = index.get(text);
    if (same) same.push(chunk);
    else index.set(text, [chunk]);
  }
  return index;
};

const textOf = (chunk: Dict, key: string): string => pyStr(chunk.get(key) ?? null);
