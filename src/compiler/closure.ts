import type { Data, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { fnmatch, isGlob } from '../targeting/glob.ts';
import { pyStr } from '../targeting/python-text.ts';

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

/** The chunks of an ID and all they lead to by requisites, in order: what `state.sls_id` runs. */
export const closureOf = (chunks: readonly Dict[], id: string): Dict[] => {
  const wanted = new Set(chunks.filter(chunk => chunk.get('__id__') === id));
  const open = [...wanted];
  for (let chunk = open.pop(); chunk; chunk = open.pop())
    for (const requisite of requisitesOf(chunk))
      for (const other of chunks)
        if (!wanted.has(other) && isMeant(other, requisite)) {
          wanted.add(other);
          open.push(other);
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

const isMeant = (chunk: Dict, { state, name }: Requisite): boolean => {
  const same = (key: string): boolean => {
    const value = pyStr(chunk.get(key) ?? null);
    return isGlob(name) ? fnmatch(value, name) : value === name;
  };
  if (state === 'sls') return same('__sls__');
  if (state !== undefined && state !== 'id' && chunk.get('state') !== state) return false;
  return same('__id__') || same('name');
};
