const marker = '    <======================';

/**
 * Returns the lines around an error between `---` lines, with the wrong line marked, as Salt prints
 * them. `firstLine` is the number of the text's first line, if the text is a part of a file.
 */
export const excerptOf = (text: string, line: number, firstLine = 1, around = 5): string => {
  const lines = text.split(/\r\n|[\r\n\x85\u2028\u2029]/);
  if (lines.at(-1) === '') lines.pop();
  const at = Math.min(Math.max(line - firstLine, 0), Math.max(lines.length - 1, 0));
  const start = Math.max(0, at - around);
  const end = Math.min(lines.length, at + around + 1);
  const shown = lines
    .slice(start, end)
    .map((content, index) => clip(content) + (start + index === at ? marker : ''));
  if (start > 0) shown.unshift('[...]');
  if (end < lines.length) shown.push('[...]');
  return ['---', ...shown, '---'].join('\n');
};

const clip = (line: string): string => (line.length > 300 ? `${line.slice(0, 300)}…` : line);
