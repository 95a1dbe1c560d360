import { shellQuote } from '../../data/formats/shell-quote.ts';
import { expandReplacement } from '../../data/python/python-replacement.ts';
import type { Data } from '../../data/values/value.ts';
import { type FilterTable, isTrueData, listOf, toFilterString } from './filter.ts';
import { humanToBytes, toNumber } from './number.ts';
import { allMatches, filterRegex } from './python-regex.ts';
import { capitalized, isSpace, requireString, scalarText } from './python-text.ts';

const regexParams = ['rgx', 'ignorecase?', 'multiline?'];

/** Filters on texts. */
export const textFilters: FilterTable = {
  to_bool: { params: [], run: value => toBool(value) },
  quote: {
    params: [],
    run: value => shellQuote(value === null ? '' : requireString(value, 'quote')),
  },
  indent: {
    params: ['width?', 'first?', 'blank?'],
    run: (value, width = 4, first = false, blank = false) => {
      const space = typeof width === 'string' ? width : ' '.repeat(Number(width));
      const lines = toFilterString(value).split(/\r\n|\r|\n/);
      return lines
        .map((line, index) =>
          (index === 0 ? isTrueData(first) : isTrueData(blank) || line !== '')
            ? space + line
            : line,
        )
        .join('\n');
    },
  },
  regex_escape: {
    params: [],
    run: value =>
      requireString(value, 'regex_escape').replace(/[\s#$&()*+\-.?[\\\]^{|}~]/g, '\\$&'),
  },
  regex_search: {
    params: regexParams,
    run: (value, rgx, ignorecase, multiline) => groups(value, rgx, ignorecase, multiline, false),
  },
  regex_match: {
    params: regexParams,
    run: (value, rgx, ignorecase, multiline) => groups(value, rgx, ignorecase, multiline, true),
  },
  regex_replace: {
    params: ['rgx', 'val', 'ignorecase?', 'multiline?'],
    run: (value, rgx, val, ignorecase, multiline) => {
      const flags = {
        ignorecase: isTrueData(ignorecase),
        multiline: isTrueData(multiline),
        global: true,
      };
      const text = toFilterString(value);
      let result = '';
      let at = 0;
      for (const match of allMatches(filterRegex(toFilterString(rgx), flags), text)) {
        result +=
          text.slice(at, match.index) + expandReplacement(toFilterString(val), match, match.groups);
        at = (match.index ?? 0) + match[0].length;
      }
      return result + text.slice(at);
    },
  },
  contains_whitespace: {
    params: [],
    run: value =>
      listOf(value, 'contains_whitespace').some(item =>
        isSpace(requireString(item, 'contains_whitespace')),
      ),
  },
  is_hex: {
    params: [],
    run: value =>
      typeof value === 'string' &&
      /^\s*[-+]?(?:0[xX])?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*\s*$/.test(value),
  },
  to_num: { params: [], run: value => toNumber(value) },
  str_to_num: { params: [], run: value => toNumber(value) },
  to_snake_case: { params: [], run: value => snakeCase(requireString(value, 'to_snake_case')) },
  to_camelcase: {
    params: ['uppercamel?'],
    run: (value, upper = false) => {
      const [first = '', ...rest] = requireString(value, 'to_camelcase').split('_');
      return [isTrueData(upper) ? capitalized(first) : first, ...rest.map(capitalized)].join('');
    },
  },
  human_to_bytes: {
    params: ['default_unit?', 'handle_metric?'],
    run: (value, unit = 'B', metric = false) =>
      humanToBytes(scalarText(value), toFilterString(unit), isTrueData(metric)),
  },
  check_whitelist_blacklist: {
    params: ['whitelist?', 'blacklist?'],
    run: (value, whitelist, blacklist) => isAllowed(toFilterString(value), whitelist, blacklist),
  },
  path_join: {
    params: ['use_posixpath?'],
    isOpen: true,
    run: (value, _, ...parts) =>
      joinPath([value, ...parts].map(part => requireString(part, 'path_join'))),
  },
};

const isAllowed = (
  text: string,
  whitelist: Data | undefined,
  blacklist: Data | undefined,
): boolean => {
  const isIn = (list: Data | undefined): boolean =>
    (typeof list === 'string' ? [list] : listOf(list, 'check_whitelist_blacklist')).some(pattern =>
      isMatch(text, toFilterString(pattern)),
    );
  if (isTrueData(blacklist) && isIn(blacklist)) return false;
  return isTrueData(whitelist) ? isIn(whitelist) : true;
};

/** Matches as a glob, or else as a regular expression for the whole string. */
const isMatch = (text: string, pattern: string): boolean => {
  const glob = pattern
    .replace(/[\\^$.|+(){}]/g, '\\$&')
    .replace(/\[!/g, '[^')
    .replace(/\[(?![^\]]+\])/g, '\\[')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return [glob, pattern].some(source => {
    try {
      return allMatches(filterRegex(`\\A(?:${source})\\Z`, { global: true }), text).length > 0;
    } catch {
      return false;
    }
  });
};

/** Joins paths below the first one, even if the others are absolute, and normalizes the result. */
const joinPath = ([root = '', ...parts]: readonly string[]): string => {
  const tidy = parts.map(part => normalPath(part).replace(/^\/+/, ''));
  const start = normalPath(root).replace(/\/$/, '');
  return tidy.length === 0 ? normalPath(root) : normalPath([start, ...tidy].join('/'));
};

/** Python's `posixpath.normpath`: an empty path becomes `.`, two leading slashes are kept. */
const normalPath = (path: string): string => {
  const root = /^\/\/(?!\/)/.test(path) ? '//' : path.startsWith('/') ? '/' : '';
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..' || (root === '' && (parts.at(-1) ?? '..') === '..')) parts.push(part);
    else parts.pop();
  }
  return root + parts.join('/') || '.';
};

const snakeCase = (text: string): string => {
  if (text === '') throw new TypeError('to_snake_case takes a text that is not empty');
  const chars = [...text];
  const isUpper = (char = ''): boolean => char !== char.toLowerCase();
  const isLower = (char = ''): boolean => char !== char.toUpperCase();
  return chars
    .map((char, index) => {
      const isEdge = index > 0 && isUpper(char);
      const isWord = isLower(chars[index - 1]) || isLower(chars[index + 1]);
      return (isEdge && isWord ? '_' : '') + char.toLowerCase();
    })
    .join('');
};

/** Reads a boolean as Salt does. */
export const toBool = (value: Data): boolean => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return ['yes', '1', 'true'].includes(value.toLowerCase());
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number.isInteger(Number(value)) && value > 0;
  return Array.isArray(value) ? value.length > 0 : value instanceof Map && value.size > 0;
};

const groups = (
  value: Data,
  rgx: Data | undefined,
  ignorecase: Data | undefined,
  multiline: Data | undefined,
  sticky: boolean,
): Data => {
  const flags = {
    ignorecase: isTrueData(ignorecase),
    multiline: isTrueData(multiline),
    sticky,
    global: true,
  };
  const [found] = allMatches(filterRegex(toFilterString(rgx), flags), toFilterString(value));
  return found ? found.slice(1).map(group => group ?? null) : null;
};
