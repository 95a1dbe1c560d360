import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { MaybePromise } from '../virtual.ts';
import { RunAborted } from './abort.ts';
import { asList, hasChanges, type Requisite, requisitesOf } from './low-tools.ts';
import type { Pass, RunState } from './run-state.ts';
import { watches, watchOrRequire } from './verify-low.ts';

/** The combined status of a chunk's requisites. */
export type Status = 'met' | 'unmet' | 'fail' | 'pre' | 'onfail' | 'onchanges' | 'change';

/** The chunks that the requisites name, by kind of requisite. */
export type Required = { readonly [kind: string]: readonly LowChunk[] };

const checkedKinds = [
  'require',
  'require_any',
  'watch',
  'watch_any',
  'prereq',
  'onfail',
  'onfail_any',
  'onfail_all',
  'onchanges',
  'onchanges_any',
] as const;

const allKinds = [...checkedKinds, 'prerequired'] as const;

/** May this chunk run now? Waits for the parallel states it needs. */
export const checkRequisites = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  withPrerequired: boolean,
): MaybePromise<CheckedRequisites> =>
  watches(low)
    ? watchOrRequire(run.host.registry, low).then(() => checkLists(run, pass, low, withPrerequired))
    : checkLists(run, pass, low, withPrerequired);

export type CheckedRequisites = { readonly status: Status; readonly required: Required };

const checkLists = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  withPrerequired: boolean,
): MaybePromise<CheckedRequisites> => {
  const required: Record<string, LowChunk[]> = {};
  for (const kind of withPrerequired ? allKinds : checkedKinds) {
    if (!Array.isArray(low[kind])) continue;
    if (asList(run.host.opts.disabled_requisites).includes(kind)) {
      run.host.log('warning', `The ${kind} requisite has been disabled, Ignoring.`);
      continue;
    }
    const list: (readonly LowChunk[])[] = [];
    for (const requisite of requisitesOf(low, kind)) {
      const found = findRequired(pass, low, requisite);
      if (!found) continue;
      if (found.length === 0) return { status: 'unmet', required: {} };
      list.push(found);
    }
    required[kind] = list.flat();
  }
  return pass.processes.size > 0
    ? awaitParallel(pass, required).then(() => ({
        status: combine(run, pass, low, required),
        required,
      }))
    : { status: combine(run, pass, low, required), required };
};

/** undefined: a requisite without a value (`- pkg:`), which is ignored. */
const findRequired = (
  pass: Pass,
  low: LowChunk,
  requisite: Requisite,
): readonly LowChunk[] | undefined => {
  if (requisite.value === null) return undefined;
  if (typeof requisite.value !== 'string')
    throw new RunAborted(
      `Could not locate requisite of [${requisite.key}] present in state with name [${low.name}]`,
    );
  return pass.index.find(requisite);
};

const awaitParallel = async (pass: Pass, required: Required): Promise<void> => {
  for (const chunks of Object.values(required))
    for (const chunk of chunks) await pass.processes.get(lowTag(chunk));
};

type Finding = Status | 'onchangesmet' | 'premet';

const combine = (run: RunState, pass: Pass, low: LowChunk, required: Required): Status => {
  const owes = (changed: string): boolean => run.host.pending.has(lowTag(low), changed);
  const all = new Set<Finding>();
  for (const [kind, chunks] of Object.entries(required)) {
    const found = new Set<Finding>();
    for (const chunk of chunks) {
      const tag = lowTag(chunk);
      const result =
        kind === 'prereq'
          ? run.pre.get(tag)
          : Object.hasOwn(pass.running, tag)
            ? pass.running[tag]
            : undefined;
      const finding = result ? judge(kind, result, () => owes(tag)) : 'unmet';
      if (finding) found.add(finding);
    }
    soften(kind, found);
    for (const finding of found) all.add(finding);
  }
  if (all.has('unmet')) return 'unmet';
  if (all.has('fail')) return 'fail';
  if (all.has('pre')) return all.has('premet') ? 'met' : 'pre';
  if (all.has('onfail') && !all.has('onchangesmet')) return 'onfail';
  if (all.has('onchanges') && !all.has('onchangesmet')) return 'onchanges';
  if (all.has('change')) return 'change';
  return all.has('onfail') ? 'onfail' : 'met';
};

const judge = (kind: string, result: StateResult, isOwed: () => boolean): Finding | undefined => {
  if (kind.startsWith('onfail')) {
    if (result.result === true) return 'onfail';
  } else if (result.result === false) return 'fail';
  if (kind.startsWith('onchanges'))
    return hasChanges(result) || isOwed() ? 'onchangesmet' : 'onchanges';
  if (kind.startsWith('watch') && hasChanges(result)) return 'change';
  if (kind === 'prereq') {
    if (result.result !== null) return 'pre';
    return 'premet';
  }
  return result.__state_ran__ === false ? undefined : 'met';
};

/** In the `_any` forms one success outweighs failures; in `onfail_all` it does not. */
const soften = (kind: string, found: Set<Finding>): void => {
  if (kind.endsWith('_any') || kind === 'onfail') {
    if (found.has('met') || found.has('change')) found.delete('fail');
    if (found.has('onchangesmet')) {
      found.delete('onchanges');
      found.delete('fail');
    }
    if (found.has('met')) found.delete('onfail');
  }
  if (kind.endsWith('_all') && found.has('onfail')) found.delete('met');
};

export type Needed = {
  readonly chunks: readonly LowChunk[];
  /** Requisites that name no chunk, by kind. */
  readonly lost: readonly { readonly kind: string; readonly requisites: readonly Requisite[] }[];
};

/** Salt runs no state just because an `onfail_all` names it. */
const soughtKinds = checkedKinds.filter(kind => kind !== 'onfail_all');

/**
 * Finds the chunks that must run before this one; marks the targets of prereq for their dry run.
 */
export const findNeeded = (pass: Pass, low: LowChunk): Needed => {
  const kinds = low.__prereq__ ? soughtKinds : [...soughtKinds, 'prerequired'];
  const chunks: LowChunk[] = [];
  const lost = [];
  for (const kind of kinds) {
    const requisites: Requisite[] = [];
    for (const requisite of requisitesOf(low, kind)) {
      const found = requisite.value === null ? [] : pass.index.find(requisite);
      for (const chunk of found) {
        if (kind === 'prereq') chunk.__prereq__ = true;
        else if (kind === 'prerequired' && requisite.key !== 'sls') chunk.__prerequired__ = true;
        chunks.push(chunk);
      }
      if (found.length === 0) requisites.push(requisite);
    }
    if (requisites.length > 0) lost.push({ kind, requisites });
  }
  return { chunks, lost };
};

export const showLost = (lost: Needed['lost']): string =>
  `The following requisites were not found:\n${lost
    .map(
      ({ kind, requisites }) =>
        `${' '.repeat(19)}${kind}:\n${requisites
          .map(({ key, value }) => `${' '.repeat(23)}${key}: ${value ?? 'None'}\n`)
          .join('')}`,
    )
    .join('')}`;
