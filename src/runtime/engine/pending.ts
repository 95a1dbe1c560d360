import type { LowChunk } from '../../protocol/low.ts';

/**
 * Reactions that are owed: a state changed, or may have changed, and a state that watches it,
 * listens to it or has it in `onchanges` has not reacted yet. Watchers are identified by their
 * tags, listeners by `listenTag`.
 */
export type PendingReactions = {
  /** Called before the first state with all chunks and their watchers. */
  readonly plan: (
    chunks: readonly LowChunk[],
    watchers: ReadonlyMap<string, readonly string[]>,
  ) => void;
  /** Whether this watcher owes a reaction to that state, from this run or an earlier one. */
  readonly has: (watcher: string, changed: string) => boolean;
  /** From now on, the state may change something. */
  readonly began: (tag: string) => void;
  /** The state changed something: these watchers owe a reaction, whatever happens. */
  readonly changed: (tag: string, watchers: readonly string[]) => void;
  /** The state has ended without a change that needs a reaction. */
  readonly unchanged: (tag: string) => void;
  /** The watcher has reacted. */
  readonly reacted: (watcher: string) => void;
};
