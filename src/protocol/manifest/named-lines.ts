/**
 * Returns a text with a line for each name, in which `lineOf` finds a name: of many, a run asks for few,
 * and a search takes less than parsing them all.
 *
 * @param entries - names without a colon or a line break, and values without a line break
 */
export const namedLines = (entries: Iterable<readonly [name: string, value: string]>): string =>
  [...new Map(entries)].map(([name, value]) => `\n${name}:${value}`).join('');

/** Returns the value of a name in a text of `namedLines`. */
export const lineOf = (text: string, name: string): string | undefined => {
  const start = `\n${name}:`;
  const at = name.includes('\n') ? -1 : text.indexOf(start);
  if (at < 0) return undefined;
  const end = text.indexOf('\n', at + 1);
  return text.slice(at + start.length, end < 0 ? undefined : end);
};

/** Returns the names and values of a text of `namedLines`. */
export const entriesOfLines = (text: string): [name: string, value: string][] =>
  text
    .split('\n')
    .slice(1)
    .map(line => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1)];
    });
