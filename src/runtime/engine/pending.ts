/** Reactions that are owed: a watched state changed and its watcher has not acted on it yet. */
export type PendingReactions = {
  /** Is this watcher owed a reaction, by this run or one before? */
  readonly has: (watcher: string) => boolean;
  /** A watched state changed: its watchers are owed a reaction from now on, whatever happens. */
  readonly add: (watchers: readonly string[], changed: string) => void;
  /** The watcher has reacted. */
  readonly done: (watcher: string) => void;
};
