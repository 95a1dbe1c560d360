import { closestMatch } from '../data/closest-match.ts';
import { globTest } from '../data/python/glob.ts';
import type { LowChunk } from '../protocol/low.ts';
import { isPlainDict, type Plain } from '../protocol/plain.ts';
import type { StateSelection } from '../protocol/state-selection.ts';
import { metRequisites, type RequisiteKeyword } from './requisite-edges.ts';

export type SelectedStates = {
  readonly chunks: readonly LowChunk[];
  readonly leftOut: number;
  /** Why no state is selected. */
  readonly fault?: string;
};

/** A state with one of these runs only after an event in another one. */
const conditions: ReadonlySet<string> = new Set<RequisiteKeyword>([
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'prereq',
]);

/** These states owe a reaction when a selected state changes or fails. */
const reactions: ReadonlySet<string> = new Set<RequisiteKeyword>([
  ...(['watch', 'watch_any', 'listen'] as const),
  ...(['onchanges', 'onchanges_any', 'onfail', 'onfail_any', 'onfail_all', 'prereq'] as const),
]);

/**
 * Selects a part of the states of a run, in their order. It includes states that the selected ones
 * require, and states that react to them: otherwise a change would never restart its service, since
 * the next run finds no change. `skip` and `skipTags` always win.
 *
 * Requisites on states that are left out are removed; a state that runs only after one of these is
 * left out as well.
 */
export const selectStates = (
  chunks: readonly LowChunk[],
  selection: StateSelection,
): SelectedStates => {
  const skipped = matchesAny(selection.skip ?? [], selection.skipTags ?? []);
  const chosen = inRange(chunks, selection);
  if (typeof chosen === 'string') return { chunks: [], leftOut: chunks.length, fault: chosen };
  const { only, tags } = selection;
  const isOnly = only === undefined ? () => true : matchesAny(only, []);
  const isTagged = tags === undefined ? () => true : matchesAny([], tags);
  const allowed = chunks.map(chunk => !skipped(chunk));
  const kept = new Set(
    chosen.filter(at => {
      const chunk = chunks[at];
      return chunk !== undefined && allowed[at] && isOnly(chunk) && isTagged(chunk);
    }),
  );
  if (kept.size === 0)
    return { chunks: [], leftOut: chunks.length, fault: nothingSelected(chunks, selection) };
  const requisites = metRequisites(chunks);
  bringAlong(kept, requisites, { allowed, noDeps: selection.noDeps === true });
  const left = [...kept].sort((a, b) => a - b);
  const selected = withoutLost(left, chunks, requisites);
  return { chunks: selected, leftOut: chunks.length - selected.length };
};

type Requisites = ReturnType<typeof metRequisites>;

const bringAlong = (
  kept: Set<number>,
  requisites: Requisites,
  { allowed, noDeps }: { allowed: readonly boolean[]; noDeps: boolean },
): void => {
  const reacting = new Map<number, number[]>();
  for (const [from, list] of requisites.entries())
    for (const { kind, met } of list)
      if (reactions.has(kind))
        for (const to of met) reacting.set(to, [...(reacting.get(to) ?? []), from]);
  const open = [...kept];
  const add = (at: number): void => {
    if (!allowed[at] || kept.has(at)) return;
    kept.add(at);
    open.push(at);
  };
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const from of reacting.get(at) ?? []) add(from);
    if (noDeps) continue;
    for (const { kind, met } of requisites[at] ?? []) if (kind !== 'listen') met.forEach(add);
  }
};

/** Returns the states without requisites on states that are left out. */
const withoutLost = (
  kept: readonly number[],
  chunks: readonly LowChunk[],
  requisites: Requisites,
): LowChunk[] => {
  const there = new Set(kept);
  for (let count = -1; count !== there.size; ) {
    count = there.size;
    for (const at of there) {
      const waits = (requisites[at] ?? []).filter(({ kind }) => conditions.has(kind));
      for (const kind of new Set(waits.map(each => each.kind))) {
        const met = waits.filter(each => each.kind === kind).flatMap(each => each.met);
        if (met.length > 0 && !met.some(to => there.has(to))) there.delete(at);
      }
    }
  }
  return kept.flatMap(at => {
    const chunk = chunks[at];
    if (!chunk || !there.has(at)) return [];
    const lost = (requisites[at] ?? []).filter(
      ({ met }) => met.length > 0 && !met.some(to => there.has(to)),
    );
    return [lost.length === 0 ? chunk : without(chunk, lost)];
  });
};

const without = (chunk: LowChunk, lost: Requisites[number]): LowChunk => {
  const rest: { [key: string]: Plain | undefined } = { ...chunk };
  for (const { kind, item } of lost) {
    const list = rest[kind];
    if (!Array.isArray(list)) continue;
    const left = list.filter(each => each !== item);
    if (left.length > 0) rest[kind] = left;
    else delete rest[kind];
  }
  return rest as LowChunk;
};

const inRange = (
  chunks: readonly LowChunk[],
  { from, until }: StateSelection,
): readonly number[] | string => {
  const places = (pattern: string): number[] => {
    const matches = matchesAny([pattern], []);
    return chunks.flatMap((chunk, at) => (matches(chunk) ? [at] : []));
  };
  const first = from === undefined ? 0 : places(from)[0];
  const last = until === undefined ? chunks.length - 1 : places(until).at(-1);
  if (first === undefined) return noState(chunks, '--from', from ?? '');
  if (last === undefined) return noState(chunks, '--until', until ?? '');
  return [...chunks.keys()].filter(at => at >= first && at <= last);
};

const matchesAny = (
  patterns: readonly string[],
  tags: readonly string[],
): ((chunk: LowChunk) => boolean) => {
  const tests = patterns.map(globTest);
  const tagTests = tags.map(globTest);
  return chunk =>
    tests.some(matches => namesOf(chunk).some(matches)) ||
    tagTests.some(matches => tagsOf(chunk).some(matches));
};

const namesOf = ({ __id__, __sls__, name }: LowChunk): string[] =>
  [__id__, __sls__, name].filter(each => typeof each === 'string');

/** `tags`: a list, or words with commas between; and those of its SLS. */
const tagsOf = ({ tags, __tags__ = [] }: LowChunk): string[] =>
  [
    ...(Array.isArray(tags) ? tags : typeof tags === 'string' ? tags.split(',') : []),
    ...(Array.isArray(__tags__) ? __tags__ : []),
  ]
    .filter(each => !isPlainDict(each))
    .map(each => String(each).trim());

const nothingSelected = (chunks: readonly LowChunk[], selection: StateSelection): string => {
  const { only = [], tags = [] } = selection;
  const lost = only.find(pattern => !chunks.some(matchesAny([pattern], [])));
  if (lost !== undefined) return noState(chunks, '--only', lost);
  const untagged = tags.find(tag => !chunks.some(matchesAny([], [tag])));
  if (untagged !== undefined) {
    const known = [...new Set(chunks.flatMap(tagsOf))];
    return `No state of this host has the tag '${untagged}'.${meant(untagged, known)}`;
  }
  return `--only, --skip and the tags leave none of the ${chunks.length} states of this host.`;
};

const noState = (chunks: readonly LowChunk[], option: string, pattern: string): string =>
  `${option}: no state of this host matches '${pattern}'.${meant(pattern, [...new Set(chunks.flatMap(namesOf))])}`;

const meant = (word: string, known: readonly string[]): string => {
  const near = closestMatch(word, known);
  return near === undefined ? '' : ` Did you mean '${near}'?`;
};
