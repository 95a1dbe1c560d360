import { globTest, isGlob } from '../data/python/glob.ts';
import type { RequisiteGraph } from '../protocol/event.ts';
import { type LowChunk, lowTag } from '../protocol/low.ts';
import { isPlainDict, type Plain } from '../protocol/plain.ts';
import { requisiteKeywords } from '../protocol/state-keywords.ts';

/** Limit of listed edges: `sls:` and globs make one for each state that they match. */
const mostEdges = 20_000;

const kinds = requisiteKeywords.filter(kind => kind !== 'onfail_stop' && kind !== 'prerequired');

export type RequisiteKeyword = (typeof requisiteKeywords)[number];

/** One requisite of a state, and the indexes of the states that it names. */
export type MetRequisite = {
  readonly kind: RequisiteKeyword;
  readonly item: Plain;
  readonly met: readonly number[];
};

/** Returns the requisites of each chunk. A requisite without a value matches no state. */
export const metRequisites = (chunks: readonly LowChunk[]): (readonly MetRequisite[])[] => {
  const find = finder(chunks);
  return chunks.map((chunk, from) =>
    kinds.flatMap(kind => {
      const list = chunk[kind];
      if (!Array.isArray(list)) return [];
      return list.map(item => ({ kind, item, met: find(item).filter(to => to !== from) }));
    }),
  );
};

/**
 * Finds the states that the requisites of low chunks name. Requisites without a value are left out.
 */
export const requisiteEdges = (chunks: readonly LowChunk[]): RequisiteGraph => {
  const edges: [number, number, string][] = [];
  for (const [from, requisites] of metRequisites(chunks).entries()) {
    const seen = new Set<string>();
    for (const { kind, met } of requisites)
      for (const to of met) {
        if (seen.has(`${kind} ${to}`) || edges.length >= mostEdges) continue;
        seen.add(`${kind} ${to}`);
        edges.push([from, to, kind]);
      }
  }
  return { tags: chunks.map(lowTag), edges };
};

const finder = (chunks: readonly LowChunk[]): ((requisite: Plain) => readonly number[]) => {
  const byName = new Map<string, number[]>();
  const bySls = new Map<string, number[]>();
  for (const [at, { name, __id__, __sls__ }] of chunks.entries()) {
    for (const one of new Set([name, __id__])) if (typeof one === 'string') add(byName, one, at);
    add(bySls, __sls__, at);
  }
  const known = new Map<string, readonly number[]>();
  return requisite => {
    const [key, value] = isPlainDict(requisite)
      ? (Object.entries(requisite)[0] ?? ['id', null])
      : (['id', requisite] as const);
    if (typeof value !== 'string') return [];
    const names = key === 'sls' ? bySls : byName;
    const text = `${key} ${value}`;
    const found = known.get(text) ?? withGlob(names, value);
    known.set(text, found);
    const state = key.split('.')[0];
    return key === 'sls' || key === 'id' ? found : found.filter(at => chunks[at]?.state === state);
  };
};

const withGlob = (names: ReadonlyMap<string, number[]>, value: string): readonly number[] => {
  if (!isGlob(value)) return names.get(value) ?? [];
  const matches = globTest(value);
  return [...new Set([...names].flatMap(([name, at]) => (matches(name) ? at : [])))];
};

const add = (map: Map<string, number[]>, key: string, at: number): void => {
  const list = map.get(key);
  if (list) list.push(at);
  else map.set(key, [at]);
};
