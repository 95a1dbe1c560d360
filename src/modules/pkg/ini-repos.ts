import { join } from 'node:path';
import { getOwn } from '../../protocol/plain.ts';
import { readNames, readOr } from '../_shared/files/read-file.ts';
import { replaceFile } from '../_shared/files/write-file.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { rm } from '../_shared/safe-fs/promises.ts';
import { plainRepr, plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

/** `.repo` files of yum, dnf and zypper: INI sections, one repository each. */
export type IniRepo = PlainDict & { file: string };

type Section = { readonly name: string; lines: string[] };

const readSections = (text: string): Section[] => {
  const sections: Section[] = [{ name: '', lines: [] }];
  for (const line of text.split('\n')) {
    const head = /^\s*\[([^\]]+)\]\s*$/.exec(line);
    if (head) sections.push({ name: head[1] ?? '', lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections;
};

const valuesOf = ({ lines }: Section): PlainDict => {
  const values: PlainDict = {};
  const comments: string[] = [];
  let last = '';
  for (const line of lines) {
    if (/^\s*#/.test(line)) comments.push(line.trim().replace(/^#\s*/, ''));
    const match = /^([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)$/.exec(line);
    if (match) {
      last = (match[1] ?? '').toLowerCase();
      values[last] = (match[2] ?? '').trim();
    } else if (/^\s+\S/.test(line) && last) values[last] = `${values[last]}\n${line.trim()}`;
  }
  if (comments.length > 0) values.comments = comments;
  return values;
};

const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap(folder =>
    readNames(folder)
      .filter(name => name.endsWith('.repo'))
      .map(name => join(folder, name)),
  );

/** Lists all repositories by id. */
export const listIniRepos = (folders: readonly string[]): { [id: string]: IniRepo } => {
  const repos: { [id: string]: IniRepo } = {};
  for (const file of filesIn(folders))
    for (const section of readSections(readOr(file) ?? ''))
      if (section.name !== '' && section.name !== 'main')
        repos[section.name] = { ...valuesOf(section), file };
  return repos;
};

/**
 * Adds or changes a repository. The value null removes a setting; `comments` replaces the existing
 * ones.
 */
export const saveIniRepo = async (
  folders: readonly string[],
  id: string,
  settings: PlainDict,
  file: string | null,
): Promise<void> => {
  if (/[\]\n/]/.test(id)) throw new SaltInvocationError(`Not a repository id: ${id}`);
  const known = getOwn(listIniRepos(folders), id);
  const path =
    known?.file ?? file ?? join(folders.find(existsSync) ?? folders[0] ?? '', `${id}.repo`);
  const sections = readSections(readOr(path) ?? '');
  const section = sections.find(({ name }) => name === id) ?? { name: id, lines: [] };
  if (!sections.includes(section)) sections.push(section);
  for (const [key, value] of Object.entries(settings))
    if (key === 'comments') setComments(section, value);
    else setLine(section, key, value);
  await writeSections(path, sections);
};

const setComments = (section: Section, value: Plain): void => {
  const comments = [value]
    .flat()
    .filter(one => one !== null)
    .map(
      one =>
        `# ${plainStr(one)
          .replace(/^#*\s*/, '')
          .replaceAll('\n', ' ')}`,
    );
  const settings = section.lines.filter(line => !/^\s*#/.test(line));
  const end = settings.findLastIndex(line => line.trim() !== '') + 1;
  section.lines = settings.toSpliced(end, 0, ...comments);
};

const setLine = (section: Section, key: string, value: Plain): void => {
  const at = section.lines.findIndex(line => new RegExp(`^${key}\\s*[=:]`, 'i').test(line));
  const text = iniValue(value);
  if (text.includes('\n') && !/^\S.*(?:\n\s+\S.*)*$/.test(text))
    throw new SaltInvocationError(`The setting ${key} has a line that would start a new setting.`);
  const before = section.lines.filter((line, index) => {
    if (at === -1) return true;
    const isContinuation =
      index > at &&
      /^\s+\S/.test(line) &&
      section.lines.slice(at + 1, index).every(one => /^\s+\S/.test(one));
    return index !== at && !isContinuation;
  });
  const lines = value === null ? [] : [`${key}=${text}`];
  const end = at === -1 ? before.findLastIndex(line => line.trim() !== '') + 1 : at;
  section.lines = before.toSpliced(end, 0, ...lines);
};

const iniValue = (value: Plain): string =>
  value === true
    ? '1'
    : value === false
      ? '0'
      : Array.isArray(value)
        ? value.map(plainStr).join('\n    ')
        : plainStr(value);

const writeSections = async (path: string, sections: readonly Section[]): Promise<void> => {
  const text = sections
    .map(({ name, lines }) => (name === '' ? lines.join('\n') : [`[${name}]`, ...lines].join('\n')))
    .map(part => part.trim())
    .filter(part => part !== '')
    .join('\n\n');
  await replaceFile(path, text === '' ? '' : `${text}\n`);
};

/** Removes a repository; its file is removed with the last repository in it. */
export const removeIniRepo = async (folders: readonly string[], id: string): Promise<string> => {
  const known = getOwn(listIniRepos(folders), id);
  if (!known) return `Error: the ${id} repo does not exist in ${plainRepr([...folders])}`;
  const kept = readSections(readOr(known.file) ?? '').filter(({ name }) => name !== id);
  if (kept.every(({ name }) => name === '')) {
    await rm(known.file, { force: true });
    return `File ${known.file} containing repo ${id} has been removed`;
  }
  await writeSections(known.file, kept);
  return `Repo ${id} has been removed from ${known.file}`;
};
