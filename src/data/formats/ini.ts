import { floatText } from '../python/float-text.ts';
import { shortened } from '../shortened.ts';
import { type Data, type Dict, Float, isDict } from '../values/value.ts';

/** Formats scalars as Python's `str()` does. */
const scalarText = (value: Data): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))
    ? floatText(Number(value))
    : String(value);
};

/**
 * Formats a dictionary of dictionaries as an INI file, as Python's `configparser` does: options in
 * lower case, further lines of a value indented by a tab.
 *
 * @param show formats values that are not scalars: Python's `str()`
 * @throws TypeError for data of another shape, and for a lone `%`
 */
export const dumpIni = (data: Data, show: (value: Data) => string = scalarText): string =>
  [...dictOf(data)]
    .map(([section, options]) => {
      const lines = [...dictOf(options)].map(([key, value]) => {
        if (value === null) throw new TypeError(`the option '${String(key)}' has no value`);
        const text = show(value);
        if (hasLonePercent(text))
          throw new TypeError(`'%' in the value of '${String(key)}' has to be doubled`);
        return `${String(key).toLowerCase()} = ${text.replaceAll('\n', '\n\t')}\n`;
      });
      return `[${String(section)}]\n${lines.join('')}\n`;
    })
    .join('');

/** Whether a `%` is neither doubled nor begins a reference such as `%(name)s`. */
const hasLonePercent = (text: string): boolean => {
  let at = text.indexOf('%');
  while (at >= 0) {
    let end = at + 2;
    if (text[at + 1] !== '%') {
      const close = text[at + 1] === '(' ? text.indexOf(')', at + 2) : -1;
      if (close <= at + 2 || text[close + 1] !== 's') return true;
      end = close + 2;
    }
    at = text.indexOf('%', end);
  }
  return false;
};

const dictOf = (data: Data): Dict => {
  if (isDict(data)) return data;
  throw new TypeError('an INI file is made of a dictionary of dictionaries');
};

/**
 * Parses an INI file to a dictionary of dictionaries of strings; indented lines continue a value.
 *
 * @throws TypeError for a malformed line
 */
export const parseIni = (text: string): Dict => {
  const result: Dict = new Map();
  let section: Dict | undefined;
  let last: string | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const name = /^\[(.+)\]\s*$/.exec(line)?.[1];
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    if (name !== undefined) {
      section = new Map();
      last = undefined;
      result.set(name, section);
    } else if (section && last !== undefined && /^\s/.test(line))
      section.set(last, `${String(section.get(last))}\n${line.trim()}`);
    else if (section && /^[^=:#;\s][^=:]*[=:]/.test(line)) {
      const end = line.search(/[=:]/);
      last = line.slice(0, end).trimEnd().toLowerCase();
      section.set(last, line.slice(end + 1).trim());
    } else throw new TypeError(`the line '${shortened(line.trim())}' is not valid in an INI file`);
  }
  return result;
};
