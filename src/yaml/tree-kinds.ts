/** Numbers of a node in a packed tree: its kind, its offset, and two more. */
export const treeWidth = 4;

export const treeKinds = {
  /** A scalar whose type depends on its text; where that begins and ends. */
  plain: 1,
  /** A string; where its text begins and ends. */
  string: 2,
  /** A string with escapes or line ends; its style follows in numbers of its own. */
  encoded: 3,
  /** A scalar that equals an earlier one; the number of that one. */
  known: 4,
  /** A list; the number of its items. */
  list: 5,
  /** A dict; the number of its keys. Each key is followed by its value. */
  dict: 6,
} as const;
