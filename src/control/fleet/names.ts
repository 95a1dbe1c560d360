/** Shows ids in a sentence: the first eight, and how many more there are. */
export const showShort = (ids: readonly string[]): string =>
  `${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ` and ${ids.length - 8} more` : ''}`;
