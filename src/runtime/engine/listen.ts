import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import { requisiteKeywords } from '../../protocol/state-keywords.ts';
import { asList, hasChanges } from './low-tools.ts';
import type { PendingReactions } from './pending.ts';
import type { Pass } from './run-state.ts';
import { listenedTo, listenTag } from './watchers.ts';

/** The reactions that `listen` defers to the end of the run, and references that name no state. */
export type Listeners = {
  /** Each with the chunk whose listener it is. */
  readonly reactions: readonly { readonly of: LowChunk; readonly low: LowChunk }[];
  readonly errors: readonly { readonly tag: string; readonly result: Partial<StateResult> }[];
};

type Listening = {
  readonly state: string;
  readonly key: Plain;
  readonly to: readonly Plain[];
};

export const findListeners = (pass: Pass, owes: PendingReactions['has']): Listeners => {
  const reactions: { of: LowChunk; low: LowChunk }[] = [];
  const errors = new Map<string, Partial<StateResult>>();
  for (const listening of listenings(pass.chunks))
    for (const item of listening.to) {
      for (const missing of missingTargets(pass, item)) refer(errors, ...missing);
      const targets = listenedTo(pass.index, pass.chunks, item).map(lowTag);
      const changed = targets.some(tag => hasChanges(pass.running[tag]));
      const own = pass.index.exact(listening.state, listening.key);
      if (changed && own.length === 0) refer(errors, listening.state, listening.key);
      for (const low of own)
        if (changed || targets.some(tag => owes(listenTag(low), tag)))
          reactions.push({ of: low, low: reaction(low) });
    }
  return {
    reactions,
    errors: [...errors].map(([tag, result]) => ({ tag, result })),
  };
};

function* listenings(chunks: readonly LowChunk[]): Generator<Listening> {
  for (const low of chunks) {
    if (Object.hasOwn(low, 'listen'))
      yield { state: low.state, key: low.__id__, to: asList(low.listen) };
    for (const item of asList(low.listen_in))
      if (isPlainDict(item))
        for (const [state, key] of Object.entries(item))
          yield { state, key, to: [{ [low.state]: low.__id__ }] };
  }
}

const missingTargets = (pass: Pass, item: Plain): readonly [string, Plain][] =>
  isPlainDict(item)
    ? Object.entries(item).filter(([state, value]) => pass.index.exact(state, value).length === 0)
    : [];

const refer = (errors: Map<string, Partial<StateResult>>, state: string, id: Plain): void => {
  errors.set(
    lowTag({
      state: 'Listen_Error',
      __id__: `listen_${id}`,
      name: `listen_${state}`,
      fun: 'Listen_Error',
    }),
    {
      comment: `Referenced state ${state}: ${id} does not exist`,
      name: `listen_${state}:${id}`,
      result: false,
      changes: {},
    },
  );
};

const reaction = (low: LowChunk): LowChunk => {
  const copy: LowChunk = {
    ...low,
    sfun: low.fun,
    fun: 'mod_watch',
    __id__: `listener_${low.__id__}`,
  };
  for (const key of requisiteKeywords) delete copy[key];
  return copy;
};
