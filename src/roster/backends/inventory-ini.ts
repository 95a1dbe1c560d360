import { type Data, Float } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { loadYaml } from '../../yaml/load.ts';
import { addMember, Inventory } from './inventory.ts';

/**
 * An Ansible inventory in INI form.
 *
 * @throws TsaltError `roster-ini` with the line
 */
export const parseIniInventory = (
  text: string,
  file: string,
  inventory = new Inventory(),
): Inventory => {
  let group = 'ungrouped';
  let kind = 'hosts';
  for (const [index, raw] of text.split('\n').entries()) {
    const at = { file, line: index + 1 };
    const line = withoutComment(raw).trim();
    if (line === '') continue;
    if (line.startsWith('[')) {
      const [, name, what = 'hosts'] =
        /^\[([^\]:]+)(?::(hosts|children|vars))?\]$/.exec(line) ?? [];
      if (name === undefined)
        throw new TsaltError('roster-ini', `The inventory line '${line}' is no section.`, { at });
      group = name.trim();
      kind = what;
      inventory.group(group);
    } else if (kind === 'children') {
      inventory.group(group).children.add(line);
      inventory.group(line);
    } else if (kind === 'vars') {
      const [, key = '', value = ''] = /^([^=\s]+)\s*=\s*(.*)$/.exec(line) ?? [];
      if (key === '') throw noPair('line', at);
      inventory.group(group).vars.set(key, typed(unquote(value)));
    } else {
      const [pattern = '', ...rest] = fields(line);
      const vars = rest.map(field => pair(field, at));
      addMember(inventory, inventory.group(group), pattern, vars, at);
    }
  }
  return inventory;
};

/** A comment begins at the start of the line or after a space, outside of quotes. */
const withoutComment = (line: string): string => {
  if (/^\s*[#;]/.test(line)) return '';
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '#' && (at === 0 || /\s/.test(line.charAt(at - 1))))
      return line.slice(0, at);
  }
  return line;
};

/** Fields with spaces between; quotes keep spaces in. */
const fields = (line: string): string[] => line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];

const pair = (field: string, at: { file: string; line: number }): readonly [string, Data] => {
  const split = field.indexOf('=');
  if (split < 1) throw noPair('field', at);
  return [field.slice(0, split), typed(unquote(field.slice(split + 1)))];
};

/**
 * Omits the text from the error: it may be a password, or the rest of one that contains a space.
 */
const noPair = (what: 'line' | 'field', at: { file: string; line: number }): TsaltError =>
  new TsaltError('roster-ini', `A ${what} of the inventory is not key=value.`, {
    at,
    hint: 'Quote a value that contains spaces.',
  });

const unquote = (text: string): string =>
  text.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single);

/** Parses a Python literal, as Ansible does: `True` is true, `true` is a string. */
const typed = (text: string): Data => {
  if (/^(0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (/^-?(\d{1,15}\.\d*|\.\d+)$/.test(text)) return new Float(Number(text));
  if (/^(True|False)$/.test(text)) return text === 'True';
  if (text === 'None') return null;
  return /^(\[.*\]|\{.*\})$/s.test(text) && !text.startsWith('{{') ? literal(text) : text;
};

/** Parses Python's lists and dictionaries, which are valid YAML in most cases. */
const literal = (text: string): Data => {
  try {
    return loadYaml(text.replace(/\bNone\b/g, 'null'));
  } catch {
    return text;
  }
};
