import type { Plain, PlainDict } from '../api.ts';

/** A value as Python's `str()` shows it: what Salt puts into environments and messages. */
export const pythonText = (value: unknown): string => {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  return typeof value === 'object' ? pythonRepr(value) : String(value);
};

/** A value as Python's `repr()` shows it. */
export const pythonRepr = (value: unknown): string => {
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${pythonRepr(key)}: ${pythonRepr(item)}`)
      .join(', ')}}`;
  return pythonText(value);
};

/** A list where Salt takes a list, a comma-separated text or nothing. */
export const toList = (value: Plain | undefined): string[] => {
  if (value === null || value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.map(item => pythonText(item));
  return String(value)
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '');
};

/** A dict where Salt takes a dict or a list of one-key dicts (`- A: 1`). */
export const repackDictList = (value: Plain | undefined): PlainDict => {
  if (value === null || value === undefined || typeof value !== 'object') return {};
  if (!Array.isArray(value)) return value;
  const dict: PlainDict = {};
  for (const item of value)
    if (typeof item === 'object' && item !== null && !Array.isArray(item))
      for (const [key, inner] of Object.entries(item)) dict[key] = inner;
  return dict;
};
