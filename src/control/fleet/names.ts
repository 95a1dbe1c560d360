/** Formats ids for a sentence: the first eight, and the number of the others. */
export const showShort = (ids: readonly string[]): string =>
  `${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ` and ${ids.length - 8} more` : ''}`;
