/**
 * Splits a command line into words as Python's `shlex.split` does: by blanks, tabs and line ends,
 * with quotes and backslashes removed. Nothing is expanded.
 *
 * @throws SyntaxError for an unclosed quote, or a backslash at the end
 */
export const shellArgs = (line: string): string[] => {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === '' && ' \t\r\n'.includes(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= '';
    if (character === '\\' && quote !== "'") {
      at += 1;
      const next = line[at];
      if (next === undefined) throw new SyntaxError('Nothing follows the last backslash');
      word += quote === '' || next === '"' || next === '\\' ? next : `\\${next}`;
    } else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
    else word += character;
  }
  if (quote !== '') throw new SyntaxError('A quote is not closed');
  return word === undefined ? words : [...words, word];
};
