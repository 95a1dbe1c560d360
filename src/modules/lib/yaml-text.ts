import type { Plain } from '../api.ts';

/** Plain data as block YAML with sorted keys, scalars quoted as PyYAML quotes them. */
export const yamlText = (value: Plain): string => {
  if (Array.isArray(value) && value.length > 0) return `${list(value, 0)}\n`;
  if (isDict(value)) return `${dict(value, 0)}\n`;
  return `${scalar(value)}\n`;
};

type Mapping = { [key: string]: Plain };

const isDict = (value: Plain): value is Mapping =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0;

const dict = (value: Mapping, depth: number): string =>
  Object.keys(value)
    .sort()
    .map(key => {
      const item = value[key] ?? null;
      const name = `${'  '.repeat(depth)}${scalar(key)}:`;
      if (Array.isArray(item) && item.length > 0) return `${name}\n${list(item, depth)}`;
      if (isDict(item)) return `${name}\n${dict(item, depth + 1)}`;
      return `${name} ${scalar(item, depth + 1)}`;
    })
    .join('\n');

const list = (value: Plain[], depth: number): string =>
  value
    .map(item => {
      const dash = `${'  '.repeat(depth)}-`;
      if (Array.isArray(item) && item.length > 0)
        return `${dash} ${list(item, depth + 1).trimStart()}`;
      if (isDict(item)) return `${dash} ${dict(item, depth + 1).trimStart()}`;
      return `${dash} ${scalar(item, depth + 1)}`;
    })
    .join('\n');

const notPlain =
  /^$|^[\s\-?:,[\]{}#&*!|>'"%@`]|: |:$| #|\s$|^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|=|<<)$|^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*)$|^[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+][0-9]+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$|^\d{4}-\d\d?-\d\d?/;

const scalar = (value: Plain, depth = 0): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object') return '{}';
  if (typeof value !== 'string') return String(value);
  if (/[\x00-\x08\x0b-\x1f\x7f\u0080-\uffff]/.test(value)) return doubleQuoted(value);
  if (value.includes('\n'))
    return `'${value.replaceAll("'", "''").replaceAll('\n', `\n\n${'  '.repeat(depth)}`)}'`;
  const dashed = /^[-?:][^\s]/.test(value) && !/: |:$| #/.test(value);
  return notPlain.test(value) && !dashed ? `'${value.replaceAll("'", "''")}'` : value;
};

const doubleQuoted = (text: string): string =>
  `"${text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\t/g, '\\t')
    .replace(
      /[\x00-\x1f\x7f-\xff]/g,
      c => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .replace(
      /[\u0100-\uffff]/g,
      c => `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )}"`;
