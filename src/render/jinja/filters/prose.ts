import { withoutEnd } from '../../../data/values/without-end.ts';
import { repeatText } from '../values/operators.ts';

type WrapOptions = {
  readonly breaksLongWords: boolean;
  readonly breaksOnHyphens: boolean;
  readonly lineEnd: string;
};

/** Wraps lines at `width` characters (Python's `textwrap.wrap` on every line). */
export const wordWrap = (text: string, width: number, options: WrapOptions): string =>
  text
    .split(/\r\n|\n|\r/)
    .map(line => wrapLine(line, Math.max(1, width), options).join(options.lineEnd))
    .join(options.lineEnd);

const wrapLine = (text: string, width: number, options: WrapOptions): string[] => {
  const words = text
    .split(/(\s+)/)
    .flatMap(word => (options.breaksOnHyphens ? splitHyphens(word) : [word]))
    .filter(word => word !== '')
    .reverse();
  const lines: string[] = [];
  while (words.length > 0) {
    if (lines.length > 0 && words.at(-1)?.trim() === '') words.pop();
    const line = takeLine(words, width, options.breaksLongWords);
    if (line.at(-1)?.trim() === '') line.pop();
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
};

const splitHyphens = (word: string): string[] =>
  word.split(/(?<=[\p{L}\d_][\p{L}_]-)(?=[\p{L}_][\p{L}_])/u);

/** Takes the words of one line from the end of the stack; puts back what does not fit. */
const takeLine = (words: string[], width: number, breaks: boolean): string[] => {
  const line: string[] = [];
  let size = 0;
  for (
    let word = words.at(-1);
    word !== undefined && size + word.length <= width;
    word = words.at(-1)
  ) {
    line.push(word);
    size += word.length;
    words.pop();
  }
  const next = words.at(-1);
  if (next !== undefined && next.length > width) {
    words.pop();
    const room = Math.max(1, width - size);
    if (breaks) {
      line.push(next.slice(0, room));
      words.push(next.slice(room));
    } else if (line.length === 0) line.push(next);
    else words.push(next);
  }
  return line;
};

type LinkOptions = {
  readonly limit: number | undefined;
  readonly target: string | undefined;
  readonly rel: readonly string[];
};

const address = /(^|[\s(<])((?:https?:\/\/|www\.)[^\s<>()]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)/g;

/** Converts addresses in a text to HTML links. */
export const urlize = (text: string, { limit, target, rel }: LinkOptions): string => {
  const escaped = text.replace(
    /[&<>]/g,
    char => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? char,
  );
  repeatText(' ', escaped.length);
  return escaped.replace(address, (_, before: string, found: string) => {
    const link = withoutEnd(found, '.,:;!?');
    const tail = found.slice(link.length);
    const shown = limit !== undefined && link.length > limit ? `${link.slice(0, limit)}...` : link;
    if (link.includes('@') && !link.includes('://'))
      return `${before}<a href="mailto:${link}">${shown}</a>${tail}`;
    const href = link.startsWith('www.') ? `https://${link}` : link;
    const relation = rel.length > 0 ? ` rel="${[...new Set(rel)].sort().join(' ')}"` : '';
    const window = target === undefined ? '' : ` target="${target}"`;
    return `${before}<a href="${href}"${relation}${window}>${shown}</a>${tail}`;
  });
};
