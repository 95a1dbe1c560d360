import { dumpJson } from '../../data/json-dump.ts';
import { toData } from '../../data/value.ts';
import { dumpYaml } from '../../data/yaml-dump.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { pyRepr, pyStr } from './python-text.ts';
import { parseSimpleYaml } from './simple-yaml.ts';

export type Serializer = {
  readonly write: (data: Plain, options: PlainDict) => string;
  readonly read?: (text: string) => Plain;
};

/** The formats of `file.serialize`, by name. */
export const serializerFor = (name: string): Serializer | undefined =>
  Object.hasOwn(serializers, name) ? serializers[name] : undefined;

const serializers: Readonly<Record<string, Serializer>> = {
  json: {
    write: (data, { indent = 2, sort_keys = true, ensure_ascii = true }) =>
      dumpJson(toData(data), {
        ...(typeof indent === 'number' && { indent }),
        sortKeys: sort_keys === true,
        ascii: ensure_ascii !== false,
      }),
    read: text => JSON.parse(text) as Plain,
  },
  yaml: {
    write: (data, { default_flow_style = false, indent }) =>
      dumpYaml(toData(data), {
        defaultFlowStyle: default_flow_style === null ? null : default_flow_style === true,
        ...(typeof indent === 'number' && { indent }),
      })
        .replace(/\n$/, '')
        .replace(/\n\.\.\.$/, ''),
    read: text => parseSimpleYaml(text),
  },
  python: { write: data => pyRepr(data) },
  configparser: { write: data => iniText(data), read: text => parseIni(text) },
  toml: { write: data => tomlTable(dictOf(data, 'toml'), '').replace(/^\n+|\n+$/g, '') },
  plist: { write: data => plistText(data) },
};

const dictOf = (data: Plain, format: string): PlainDict => {
  if (isPlainDict(data)) return data;
  throw new SaltInvocationError(`a ${format} file is made of a dictionary`);
};

const iniText = (data: Plain): string =>
  Object.entries(dictOf(data, 'configparser'))
    .map(([section, options]) => {
      const lines = Object.entries(dictOf(options, 'configparser')).map(
        ([key, value]) => `${key.toLowerCase()} = ${pyStr(value).replaceAll('\n', '\n\t')}\n`,
      );
      return `[${section}]\n${lines.join('')}\n`;
    })
    .join('')
    .replace(/\n$/, '');

const parseIni = (text: string): PlainDict => {
  const result: PlainDict = {};
  let section: PlainDict | undefined;
  for (const line of text.split('\n')) {
    const name = line.match(/^\[(.+)\]\s*$/)?.[1];
    const [, key, value] = line.match(/^([^=:#;\s][^=:]*?)\s*[=:]\s*(.*)$/) ?? [];
    if (name !== undefined) {
      section = {};
      result[name] = section;
    } else if (section && key !== undefined) section[key.toLowerCase()] = (value ?? '').trim();
  }
  return result;
};

const tomlTable = (table: PlainDict, path: string): string => {
  const entries = Object.entries(table).filter(([, value]) => value !== null);
  const isTable = (value: Plain): boolean => isPlainDict(value);
  const isTables = (value: Plain): value is PlainDict[] =>
    Array.isArray(value) && value.length > 0 && value.every(isTable);
  const own = entries
    .filter(([, value]) => !isTable(value) && !isTables(value))
    .map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}\n`)
    .join('');
  const nested = entries.map(([key, value]) => {
    const name = path + tomlKey(key);
    if (isTables(value))
      return value.map(each => `\n[[${name}]]\n${tomlTable(each, `${name}.`)}`).join('');
    return isPlainDict(value) ? `\n[${name}]\n${tomlTable(value, `${name}.`)}` : '';
  });
  return own + nested.join('');
};

const tomlKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

const tomlValue = (value: Plain): string => {
  if (Array.isArray(value)) return `[${value.map(item => ` ${tomlValue(item)},`).join('')}]`;
  if (isPlainDict(value))
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${tomlKey(key)} = ${tomlValue(item)}`)
      .join(', ')} }`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value ?? '""');
};

const plistText = (data: Plain): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    ...plistLines(data),
    '</plist>',
  ].join('\n');

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const plistLines = (value: Plain): string[] => {
  const inner = (lines: string[]): string[] => lines.map(line => `\t${line}`);
  if (Array.isArray(value))
    return value.length === 0
      ? ['<array/>']
      : ['<array>', ...inner(value.flatMap(plistLines)), '</array>'];
  if (isPlainDict(value)) {
    const items = Object.keys(value)
      .sort()
      .flatMap(key => [`<key>${escapeXml(key)}</key>`, ...plistLines(value[key] ?? null)]);
    return items.length === 0 ? ['<dict/>'] : ['<dict>', ...inner(items), '</dict>'];
  }
  if (value === true) return ['<true/>'];
  if (value === false) return ['<false/>'];
  if (typeof value === 'number')
    return [Number.isInteger(value) ? `<integer>${value}</integer>` : `<real>${value}</real>`];
  return [`<string>${escapeXml(pyStr(value))}</string>`];
};
