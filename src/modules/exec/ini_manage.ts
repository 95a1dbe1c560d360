/**
 * Reads and changes INI files. Goes by the name `ini`.
 *
 * @platform all
 */
import { existsSync, readFileSync } from 'node:fs';
import { isPlainDict } from '../../protocol/plain.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../api.ts';
import { writeAtomic } from '../lib/atomic-write.ts';
import { expandUser, realPath } from '../lib/file-paths.ts';
import { getIniOption, type IniFile, parseIni, renderIni, setIniOption } from '../lib/ini-file.ts';
import { pyStr } from '../lib/python-text.ts';

export const __virtualname__ = 'ini';

/**
 * The value of an option; null when it is not there.
 *
 * @param file_name the file
 * @param section the section; '' for options before the first one
 * @param option the option
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.get_option /etc/app.ini main port
 */
export const get_option = async (
  file_name: string,
  section: string,
  option: string,
  separator = '=',
): Promise<string | null> => getIniOption(load(file_name, separator), section, option) ?? null;

/**
 * Sets options. Gives what changed, by section: `before` and `after`.
 *
 * @param file_name the file; it is made when it is missing
 * @param sections options by section, or options before the first section
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.set_option /etc/app.ini '{main: {port: 80}}'
 */
export const set_option = async (
  file_name: string,
  sections: PlainDict = {},
  separator = '=',
): Promise<PlainDict> => {
  const file = load(file_name, separator);
  const changes: PlainDict = {};
  const set = (section: string, option: string, value: Plain): PlainDict => {
    const before = getIniOption(file, section, option) ?? null;
    const after = pyStr(value);
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
    const changed = Object.assign(
      {},
      ...Object.entries(value).map(([key, each]) => set(name, key, each)),
    );
    if (Object.keys(changed).length > 0 || isNew) changes[name] = changed;
  }
  if (Object.keys(changes).length > 0) save(file_name, file);
  return changes;
};

/**
 * Removes an option. Gives its value; null when it was not there.
 *
 * @param file_name the file
 * @param section the section
 * @param option the option
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.remove_option /etc/app.ini main port
 */
export const remove_option = async (
  file_name: string,
  section: string,
  option: string,
  separator = '=',
): Promise<string | null> => {
  const file = load(file_name, separator);
  const value = getIniOption(file, section, option);
  if (value === undefined) return null;
  const found = file.sections.find(each => each.name === section);
  if (found) found.lines = found.lines.filter(line => line.option !== option);
  save(file_name, file);
  return value;
};

/**
 * The options of a section with their values.
 *
 * @param file_name the file
 * @param section the section
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.get_section /etc/app.ini main
 */
export const get_section = async (
  file_name: string,
  section: string,
  separator = '=',
): Promise<Record<string, string>> => (await get_ini(file_name, separator))[section] ?? {};

/**
 * Removes a section. Gives its options; null when it was not there.
 *
 * @param file_name the file
 * @param section the section
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.remove_section /etc/app.ini main
 */
export const remove_section = async (
  file_name: string,
  section: string,
  separator = '=',
): Promise<Record<string, string> | null> => {
  const all = await get_ini(file_name, separator);
  const old = all[section];
  if (!old) return null;
  const file = load(file_name, separator);
  save(file_name, { sections: file.sections.filter(each => each.name !== section) });
  return old;
};

/**
 * The whole file as data, by section; '' for options before the first one.
 *
 * @param file_name the file
 * @param separator what stands between name and value
 *
 * @example tsalt-ssh '*' ini.get_ini /etc/app.ini
 */
export const get_ini = async (
  file_name: string,
  separator = '=',
): Promise<Record<string, Record<string, string>>> =>
  Object.fromEntries(
    load(file_name, separator).sections.map(({ name, lines }) => [
      name,
      Object.fromEntries(
        lines.flatMap(({ option, value }) => (option === undefined ? [] : [[option, value ?? '']])),
      ),
    ]),
  );

const load = (name: string, separator: string): IniFile => {
  const path = expandUser(name);
  try {
    return parseIni(existsSync(path) ? readFileSync(path, 'utf8') : '', separator);
  } catch (error) {
    throw new CommandExecutionError(
      `Unable to open file '${path}'. Exception: ${error instanceof Error ? error.message : ''}`,
    );
  }
};

const save = (name: string, file: IniFile): void =>
  writeAtomic(realPath(expandUser(name)), renderIni(file));
