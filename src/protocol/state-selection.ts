/** A part of a run, named as on the command line. */
export type StateSelection = {
  /** IDs, names or SLS, as globs. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly tags?: readonly string[];
  readonly skipTags?: readonly string[];
  /** Begin with the first state that matches. */
  readonly from?: string;
  /** End with the last state that matches. */
  readonly until?: string;
  /** Leave out the states that the selected ones require. */
  readonly noDeps?: boolean;
};
