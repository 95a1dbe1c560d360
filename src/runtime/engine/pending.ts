import type { LowChunk } from '../../protocol/low.ts';

/**
 * Reactions that are owed: a state changed, or may have changed, and a state that watches it,
 * listens to it or has it in `onchanges` has not acted on that yet. Watchers go by their tags,
 * listeners by `listenTag`.
 */
export type PendingReactions = {
  /** Before the first state: all chunks, and who reacts to the changes of which. */
  readonly plan: (
    chunks: readonly LowChunk[],
    watchers: ReadonlyMap<string, readonly string[]>,
  ) => void;
  /** Does this watcher owe a reaction to that state, from this run or one before? */
  readonly has: (watcher: string, changed: string) => boolean;
  /** From now on the state may change something. */
  readonly began: (tag: string) => void;
  /** It did: these watchers owe a reaction, whatever happens. */
  readonly changed: (tag: string, watchers: readonly string[]) => void;
  /** It has ended and changed nothing, or nothing that anybody still has to react to. */
  readonly unchanged: (tag: string) => void;
  /** The watcher has reacted. */
  readonly reacted: (watcher: string) => void;
};
