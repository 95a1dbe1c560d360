import type { PlainDict } from '../../api.ts';
import { plainStr } from './python-text.ts';

/** An ini file: lines as they were written, so that comments and order stay. */
export type IniFile = { sections: IniSection[] };
export type IniSection = { name: string; lines: IniLine[] };
export type IniLine = { text: string; option?: string; value?: string };

/** The first section, '', holds what stands before the first header. */
export const parseIniFile = (text: string, separator: string): IniFile => {
  let current: IniSection = { name: '', lines: [] };
  const sections = [current];
  for (const line of text.split('\n')) {
    const name = line.match(/^\s*\[(.+)\]\s*$/)?.[1];
    const last = current.lines.at(-1);
    if (name !== undefined) {
      current = { name, lines: [] };
      sections.push(current);
    } else if (/^\s+\S/.test(line) && last?.option !== undefined && !line.includes(separator)) {
      last.text += `\n${line}`;
      last.value = `${last.value}\n${line.trim()}`;
    } else current.lines.push(parseLine(line, separator));
  }
  const end = current.lines;
  if (end.at(-1)?.text === '') end.pop();
  return { sections };
};

const parseLine = (text: string, separator: string): IniLine => {
  if (/^\s*[#;]/.test(text)) return { text };
  const at = text.indexOf(separator);
  if (at <= 0) return { text };
  const option = text.slice(0, at).trim();
  return option === ''
    ? { text }
    : { text, option, value: text.slice(at + separator.length).trim() };
};

export const renderIni = ({ sections }: IniFile): string => {
  const lines = sections.flatMap(({ name, lines: own }) => [
    ...(name === '' ? [] : [`[${name}]`]),
    ...own.map(line => line.text),
  ]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
};

export const getIniOption = (
  { sections }: IniFile,
  section: string,
  option: string,
): string | undefined =>
  sections
    .filter(each => each.name === section)
    .flatMap(each => each.lines)
    .findLast(line => line.option === option)?.value;

/**
 * Sets an option in place. A new one takes the place of a line that has it behind `#`, as in Salt;
 * without such a line it goes behind the last option of its section.
 */
export const setIniOption = (
  { sections }: IniFile,
  section: string,
  option: string,
  value: string,
  separator: string,
): void => {
  const gap = separator.trim() === '' ? separator : ` ${separator.trim()} `;
  const line: IniLine = { text: `${option}${gap}${value}`.trimEnd(), option, value };
  const found = sections.find(each => each.name === section);
  if (!found) {
    sections.push({ name: section, lines: [line] });
    return;
  }
  const there = found.lines.findLastIndex(each => each.option === option);
  const at = there >= 0 ? there : found.lines.findIndex(isCommentOf(option, separator));
  if (at >= 0) {
    found.lines[at] = line;
    return;
  }
  const last = found.lines.findLastIndex(each => each.text.trim() !== '');
  found.lines.splice(last + 1, 0, line);
};

/** The reported change of a section that was added. */
export const newIniSection = (options: PlainDict): PlainDict => ({
  before: null,
  after: Object.fromEntries(Object.entries(options).map(([key, value]) => [key, plainStr(value)])),
});

const isCommentOf =
  (option: string, separator: string) =>
  ({ text }: IniLine): boolean =>
    /^\s*#/.test(text) && parseLine(text.trim().replace(/^#+/, ''), separator).option === option;
