import { floatText } from '../python/float-text.ts';
import { type Data, type Dict, Float, isDict } from '../values/value.ts';

/**
 * Formats a dictionary as TOML, in the layout of Python's `toml`: values first, then lists of
 * tables, then tables, level by level. Null values are left out.
 */
export const dumpToml = (data: Dict): string => {
  let [text, tables] = section(data, '');
  while (tables.size > 0) {
    const deeper = new Map<string, Dict>();
    for (const [name, table] of tables) {
      const [own, inner] = section(table, name);
      if (own !== '' || inner.size === 0) {
        if (text !== '' && !text.endsWith('\n\n')) text += '\n';
        text += `[${name}]\n${own}`;
      }
      for (const [key, value] of inner) deeper.set(`${name}.${key}`, value);
    }
    tables = deeper;
  }
  return text;
};

/** Returns the lines of a table itself, and the tables in it. */
const section = (table: Dict, name: string): [string, Map<string, Dict>] => {
  const prefix = name === '' ? '' : `${name}.`;
  const tables = new Map<string, Dict>();
  let [values, lists] = ['', ''];
  for (const [key, value] of table) {
    const written = keyText(String(key));
    if (isDict(value)) tables.set(written, value);
    else if (Array.isArray(value) && value.some(isDict))
      for (const item of value) lists += tableOfList(asTable(item), prefix + written);
    else if (value !== null) values += `${written} = ${valueText(value)}\n`;
  }
  return [values + lists, tables];
};

const asTable = (value: Data): Dict => {
  if (isDict(value)) return value;
  throw new TypeError('in TOML a list holds tables or other values, not both');
};

const tableOfList = (table: Dict, name: string): string => {
  const [own, tables] = section(table, name);
  let text = `[[${name}]]\n${own.startsWith('[') ? '' : own}\n${own.startsWith('[') ? own : ''}`;
  let inner: Map<string, Dict> = tables;
  while (inner.size > 0) {
    const deeper = new Map<string, Dict>();
    for (const [key, value] of inner) {
      const [lines, next] = section(value, `${name}.${key}`);
      if (lines !== '') text += `[${name}.${key}]\n${lines}`;
      for (const [last, item] of next) deeper.set(`${key}.${last}`, item);
    }
    inner = deeper;
  }
  return text;
};

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

const valueText = (value: Data): string => {
  if (Array.isArray(value)) return `[${value.map(item => ` ${valueText(item)},`).join('')}]`;
  if (isDict(value)) {
    const items = [...value].map(([key, item]) => `${keyText(String(key))} = ${valueText(item)}`);
    return `{ ${items.join(', ')} }\n`;
  }
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Float || (typeof value === 'number' && !Number.isInteger(value)))
    return floatText(Number(value)).replace(/(e[+-])0/, '$1');
  return value === null ? '""' : String(value);
};
