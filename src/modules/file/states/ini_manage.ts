/** Manages sections and options of INI files. Also available as `ini`. */

import { messageOf } from '../../../protocol/error.ts';
import { isPlainDict } from '../../../protocol/plain.ts';
import { failed, newReturn } from '../../_shared/states/returns.ts';
import { newIniSection } from '../../_shared/text/ini-file.ts';
import { refuseNewlinesOfIni } from '../../_shared/text/one-line.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { __opts__, __salt__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';

export const __virtualname__ = 'ini';

type Ini = Record<string, Record<string, string>>;

/**
 * Manages options of an ini file.
 *
 * @param name the file
 * @param sections options by section; options before the first section are at the top level
 * @param separator the separator between name and value
 * @param strict remove the other options of the sections named, and those before the first section
 *
 * @example
 * /etc/app.ini:
 *   ini.options_present:
 *     - sections:
 *         main:
 *           port: 80
 */
export const options_present = async (
  name: string,
  {
    sections = null,
    separator = '=',
    strict = false,
  }: { sections?: PlainDict | null; separator?: string; strict?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const lines: string[] = [];
  const changes: PlainDict = {};
  try {
    refuseNewlinesOfIni(sections ?? {}, separator);
    const current = (await __salt__['ini.get_ini']?.(name, separator)) as Ini;
    const note = (section: string, option: string, value: Plain): PlainDict => {
      const before = current[section]?.[option] ?? null;
      const after = plainStr(value);
      const place = section === '' ? '' : ` in section ${section}`;
      lines.push(`${before === after ? 'Unchanged' : 'Changed'} key ${option}${place}.\n`);
      return before === after ? {} : { [option]: { before, after } };
    };
    const drop = async (section: string, options: PlainDict, said: string): Promise<PlainDict> => {
      const gone: PlainDict = {};
      for (const [option, before] of Object.entries(current[section] ?? {})) {
        if (!strict || Object.hasOwn(options, option)) continue;
        gone[option] = { before, after: null };
        lines.push(`${said} key ${option}${section === '' ? '' : ` in section ${section}`}.\n`);
        if (!__opts__.test) await __salt__['ini.remove_option']?.(name, section, option, separator);
      }
      return gone;
    };
    const entries = Object.entries(sections ?? {});
    for (const [key, value] of entries)
      if (!isPlainDict(value)) Object.assign(changes, note('', key, value));
    Object.assign(changes, await drop('', sections ?? {}, 'Removed'));
    for (const [key, value] of entries) {
      if (!isPlainDict(value)) continue;
      const gone = await drop(key, value, 'Deleted');
      const set = Object.entries(value).map(([option, each]) => note(key, option, each));
      const changed: PlainDict = Object.assign(gone, ...set);
      if (!current[key]) changes[key] = newIniSection(value);
      else if (Object.keys(changed).length > 0) changes[key] = changed;
    }
    const changed = Object.keys(changes).length > 0;
    if (__opts__.test)
      return {
        ...ret,
        changes,
        result: changed ? null : true,
        comment: lines.join('') || 'No changes detected.',
      };
    if (!changed) return { ...ret, comment: 'No anomaly detected' };
    await __salt__['ini.set_option']?.(name, sections ?? {}, separator);
    return { ...ret, changes, comment: 'Changes take effect' };
  } catch (error) {
    return failed(ret, messageOf(error));
  }
};

/**
 * Makes sure that options do not exist in an ini file.
 *
 * @param name the file
 * @param sections lists of options by section; options before the first section have any other value
 * @param separator the separator between name and value
 *
 * @example
 * /etc/app.ini:
 *   ini.options_absent:
 *     - sections:
 *         main:
 *           - port
 */
export const options_absent = async (
  name: string,
  { sections = null, separator = '=' }: { sections?: PlainDict | null; separator?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const lines: string[] = [];
  try {
    const current = (await __salt__['ini.get_ini']?.(name, separator)) as Ini;
    for (const [section, options] of Object.entries(sections ?? {})) {
      const pairs = Array.isArray(options)
        ? options.map(each => [section, plainStr(each)])
        : [['', section]];
      for (const [where = '', option = ''] of pairs) {
        const value = current[where]?.[option];
        const place = where === '' ? '' : ` in section ${where}`;
        if (value === undefined) {
          lines.push(`Key ${option}${place} does not exist.\n`);
          continue;
        }
        lines.push(`Deleted key ${option}${place}.\n`);
        if (where === '') ret.changes[option] = value;
        else ret.changes[where] = { ...((ret.changes[where] ?? {}) as PlainDict), [option]: value };
        if (!__opts__.test) await __salt__['ini.remove_option']?.(name, where, option, separator);
      }
    }
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return answer(ret, lines);
};

/**
 * Makes sure that sections exist in an ini file. Missing sections are created empty.
 *
 * @param name the file
 * @param sections the names
 * @param separator the separator between name and value
 *
 * @example
 * /etc/app.ini:
 *   ini.sections_present:
 *     - sections: [main, extra]
 */
export const sections_present = async (
  name: string,
  {
    sections = null,
    separator = '=',
  }: { sections?: string[] | PlainDict | null; separator?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  // Salt takes a dict for its names: options are for ini.options_present.
  const names = Array.isArray(sections) ? sections : Object.keys(sections ?? {});
  const wanted: PlainDict = Object.fromEntries(names.map(section => [section, {}]));
  const lines: string[] = [];
  try {
    const current = (await __salt__['ini.get_ini']?.(name, separator)) as Ini;
    const missing = Object.fromEntries(
      Object.entries(wanted).filter(([section]) => {
        lines.push(
          current[section]
            ? `Section unchanged ${section}.\n`
            : `Created new section ${section}.\n`,
        );
        return !current[section];
      }),
    );
    ret.changes = __opts__.test
      ? Object.fromEntries(Object.keys(missing).map(key => [key, newIniSection({})]))
      : ((await __salt__['ini.set_option']?.(name, missing, separator)) ?? {});
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return answer(ret, lines);
};

/**
 * Makes sure that sections do not exist in an ini file.
 *
 * @param name the file
 * @param sections the names
 * @param separator the separator between name and value
 *
 * @example
 * /etc/app.ini:
 *   ini.sections_absent:
 *     - sections: [extra]
 */
export const sections_absent = async (
  name: string,
  { sections = null, separator = '=' }: { sections?: string[] | null; separator?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const lines: string[] = [];
  try {
    const current = (await __salt__['ini.get_ini']?.(name, separator)) as Ini;
    for (const section of sections ?? []) {
      const old = current[section];
      lines.push(old ? `Deleted section ${section}.\n` : `Section ${section} does not exist.\n`);
      if (!old) continue;
      ret.changes[section] = old;
      if (!__opts__.test) await __salt__['ini.remove_section']?.(name, section, separator);
    }
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  return answer(ret, lines);
};

const answer = (ret: StateReturn, lines: string[]): StateReturn => {
  const changed = Object.keys(ret.changes).length > 0;
  if (__opts__.test)
    return {
      ...ret,
      result: changed ? null : true,
      comment: lines.join('') || 'No changes detected.',
    };
  return { ...ret, comment: changed ? 'Changes take effect' : 'No anomaly detected' };
};
