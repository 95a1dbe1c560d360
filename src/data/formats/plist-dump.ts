import { floatText } from '../python/float-text.ts';
import { type Data, Float, isDict } from '../values/value.ts';
import { compareKeys } from './json-dump.ts';

/**
 * Formats a value as an XML property list, in the layout of Python's `plistlib`: sorted keys, tabs.
 */
export const dumpPlist = (data: Data): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    ...lines(data),
    '</plist>',
    '',
  ].join('\n');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const indented = (list: readonly string[]): string[] => list.map(line => `\t${line}`);

const lines = (value: Data): string[] => {
  if (Array.isArray(value))
    return value.length === 0
      ? ['<array/>']
      : ['<array>', ...indented(value.flatMap(lines)), '</array>'];
  if (isDict(value)) {
    const pairs = [...value].sort(([a], [b]) => compareKeys(String(a), String(b)));
    const items = pairs.flatMap(([key, item]) => [
      `<key>${escaped(String(key))}</key>`,
      ...lines(item),
    ]);
    return items.length === 0 ? ['<dict/>'] : ['<dict>', ...indented(items), '</dict>'];
  }
  if (value === null) throw new TypeError('a property list has no null');
  if (typeof value === 'boolean') return [value ? '<true/>' : '<false/>'];
  if (typeof value === 'string') return [`<string>${escaped(value)}</string>`];
  return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))
    ? [`<real>${floatText(Number(value))}</real>`]
    : [`<integer>${String(value)}</integer>`];
};
