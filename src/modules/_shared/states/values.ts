import { setOwn } from '../../../protocol/plain.ts';
import type { Plain, PlainDict } from '../../api.ts';
import { plainStr } from '../text/python-text.ts';

/** A list where Salt takes a list, a comma-separated text or nothing. */
export const toList = (value: Plain | undefined): string[] => {
  if (value === null || value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.map(item => plainStr(item));
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
      for (const [key, inner] of Object.entries(item)) setOwn(dict, key, inner);
  return dict;
};

/** Variables of an environment, as a dict or a list, with the texts that Python makes of their values. */
export const environmentOf = (given: Plain | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(repackDictList(given)).map(([name, value]) => [name, plainStr(value)]),
  );
