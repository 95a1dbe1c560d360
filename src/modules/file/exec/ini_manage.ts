/**
 * Reads and changes INI files. Also available as `ini`.
 *
 * @platform all
 */

import { isPlainDict } from '../../../protocol/plain.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { expandUser } from '../../_shared/files/file-paths.ts';
import { existsSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../_shared/safe-fs/open-parent.ts';
import {
  getIniOption,
  type IniFile,
  newIniSection,
  parseIniFile,
  renderIni,
  setIniOption,
} from '../../_shared/text/ini-file.ts';
import { refuseNewlinesOfIni } from '../../_shared/text/one-line.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../../api.ts';
import { decodeText, encodeText } from '../encode-text.ts';

export const __virtualname__ = 'ini';

/**
 * Returns the value of an option; null if it does not exist.
 *
 * @param file_name the file
 * @param section the section; '' for options before the first one
 * @param option the option
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.get_option /etc/app.ini main port
 */
export const get_option = async (
  file_name: string,
  section: string,
  option: string,
  separator = '=',
  encoding: string | null = null,
): Promise<string | null> =>
  getIniOption(load(file_name, separator, encoding), section, option) ?? null;

/**
 * Sets options. Returns the changes by section: `before` and `after` of each option, or of the
 * section if it is new. If a comment contains the option, the new option replaces it.
 *
 * @param file_name the file; it is created if it is missing
 * @param sections options by section, or options before the first section
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.set_option /etc/app.ini '{main: {port: 80}}'
 */
export const set_option = async (
  file_name: string,
  sections: PlainDict = {},
  separator = '=',
  encoding: string | null = null,
): Promise<PlainDict> => {
  const file = load(file_name, separator, encoding);
  const changes: PlainDict = {};
  refuseNewlinesOfIni(sections, separator);
  const set = (section: string, option: string, value: Plain): PlainDict => {
    const before = getIniOption(file, section, option) ?? null;
    const after = plainStr(value);
    if (before === after) return {};
    setIniOption(file, section, option, after, separator);
    return { [option]: { before, after } };
  };
  for (const [name, value] of Object.entries(sections)) {
    if (!isPlainDict(value)) {
      Object.assign(changes, set('', name, value));
      continue;
    }
    const isNew = !file.sections.some(section => section.name === name);
    if (isNew) file.sections.push({ name, lines: [] });
    const changed: PlainDict = Object.assign(
      {},
      ...Object.entries(value).map(([key, each]) => set(name, key, each)),
    );
    if (isNew) changes[name] = newIniSection(value);
    else if (Object.keys(changed).length > 0) changes[name] = changed;
  }
  if (Object.keys(changes).length > 0) save(file_name, file, encoding);
  return changes;
};

/**
 * Removes an option. Returns its value; null if it did not exist.
 *
 * @param file_name the file
 * @param section the section
 * @param option the option
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.remove_option /etc/app.ini main port
 */
export const remove_option = async (
  file_name: string,
  section: string,
  option: string,
  separator = '=',
  encoding: string | null = null,
): Promise<string | null> => {
  const file = load(file_name, separator, encoding);
  const value = getIniOption(file, section, option);
  if (value === undefined) return null;
  const found = file.sections.find(each => each.name === section);
  if (found) found.lines = found.lines.filter(line => line.option !== option);
  save(file_name, file, encoding);
  return value;
};

/**
 * Returns the options of a section with their values.
 *
 * @param file_name the file
 * @param section the section
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.get_section /etc/app.ini main
 */
export const get_section = async (
  file_name: string,
  section: string,
  separator = '=',
  encoding: string | null = null,
): Promise<Record<string, string>> =>
  (await get_ini(file_name, separator, encoding))[section] ?? {};

/**
 * Removes a section. Returns its options; null if it did not exist.
 *
 * @param file_name the file
 * @param section the section
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.remove_section /etc/app.ini main
 */
export const remove_section = async (
  file_name: string,
  section: string,
  separator = '=',
  encoding: string | null = null,
): Promise<Record<string, string> | null> => {
  const all = await get_ini(file_name, separator, encoding);
  const old = all[section];
  if (!old) return null;
  const file = load(file_name, separator, encoding);
  save(file_name, { sections: file.sections.filter(each => each.name !== section) }, encoding);
  return old;
};

/**
 * Returns the whole file as data by section, with '' for options before the first section.
 *
 * @param file_name the file
 * @param separator the separator between name and value
 * @param encoding the file's encoding; UTF-8 by default
 *
 * @example tsalt-ssh '*' ini.get_ini /etc/app.ini
 */
export const get_ini = async (
  file_name: string,
  separator = '=',
  encoding: string | null = null,
): Promise<Record<string, Record<string, string>>> =>
  Object.fromEntries(
    load(file_name, separator, encoding).sections.map(({ name, lines }) => [
      name,
      Object.fromEntries(
        lines.flatMap(({ option, value }) => (option === undefined ? [] : [[option, value ?? '']])),
      ),
    ]),
  );

const load = (name: string, separator: string, encoding: string | null): IniFile => {
  const path = expandUser(name);
  try {
    return parseIniFile(
      existsSync(path) ? decodeText(readFileSync(path), encoding ?? undefined) : '',
      separator,
    );
  } catch (error) {
    throw new CommandExecutionError(
      `Unable to open file '${path}'. Exception: ${error instanceof Error ? error.message : ''}`,
    );
  }
};

const save = (name: string, file: IniFile, encoding: string | null): void => {
  writeAtomic(followLinks(expandUser(name)), encodeText(renderIni(file), encoding ?? undefined));
};
