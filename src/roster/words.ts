/**
 * The words of a command line as `shlex.split` sees them: spaces between, quotes and backslashes
 * keep them together, and nothing else means anything.
 *
 * @returns undefined when a quote is not closed
 */
export const splitWords = (line: string): string[] | undefined => {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= '';
    if (character === '\\' && quote !== "'") {
      at += 1;
      word += line[at] ?? '';
    } else if (quote === '' && /["']/.test(character)) quote = character;
    else if (character === quote) quote = '';
    else word += character;
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
};
