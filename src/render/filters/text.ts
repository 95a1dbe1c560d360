import { type Data, Float } from '../../data/value.ts';
import { type FilterTable, isTrue, textOf } from './filter.ts';
import { allMatches, expandReplacement, pythonRegex } from './python-regex.ts';

const regexParams = ['rgx', 'ignorecase', 'multiline'];

/** Filters on texts. */
export const textFilters: FilterTable = {
  to_bool: { params: [], run: value => toBool(value) },
  quote: { params: [], run: value => shellQuote(textOf(value)) },
  indent: {
    params: ['width', 'first', 'blank'],
    run: (value, width = 4, first = false, blank = false) => {
      const space = typeof width === 'string' ? width : ' '.repeat(Number(width));
      const lines = textOf(value).split(/\r\n|\r|\n/);
      return lines
        .map((line, index) =>
          (index === 0 ? isTrue(first) : isTrue(blank) || line !== '') ? space + line : line,
        )
        .join('\n');
    },
  },
  regex_escape: {
    params: [],
    run: value => textOf(value).replace(/[\s#$&()*+\-.?[\\\]^{|}~]/g, '\\$&'),
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
    params: ['rgx', 'val', 'ignorecase', 'multiline'],
    run: (value, rgx, val, ignorecase, multiline) => {
      const flags = { ignorecase: isTrue(ignorecase), multiline: isTrue(multiline), global: true };
      const text = textOf(value);
      let result = '';
      let at = 0;
      for (const match of allMatches(pythonRegex(textOf(rgx), flags), text)) {
        result += text.slice(at, match.index) + expandReplacement(textOf(val), match, match.groups);
        at = (match.index ?? 0) + match[0].length;
      }
      return result + text.slice(at);
    },
  },
  contains_whitespace: { params: [], run: value => /\s/.test(textOf(value)) },
  is_hex: {
    params: [],
    run: value => /^\s*[-+]?(?:0[xX])?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*\s*$/.test(textOf(value)),
  },
  to_num: { params: [], run: toNumber },
  str_to_num: { params: [], run: toNumber },
  to_snake_case: {
    params: [],
    run: value =>
      textOf(value)
        .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
        .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
        .toLowerCase(),
  },
  to_camelcase: {
    params: ['uppercamel'],
    run: (value, upper = false) => {
      const text = textOf(value)
        .split('_')
        .map(part => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase())
        .join('');
      return isTrue(upper) ? text : text.charAt(0).toLowerCase() + text.slice(1);
    },
  },
  human_to_bytes: {
    params: ['default_unit', 'handle_metric'],
    run: (value, unit = 'B', metric = false) =>
      humanToBytes(textOf(value), textOf(unit), isTrue(metric)),
  },
  path_join: {
    params: ['a', 'b', 'c', 'd', 'e', 'f'],
    run: (value, ...parts) =>
      [value, ...parts]
        .filter(part => part !== undefined)
        .map(textOf)
        .reduce((path, part) =>
          part.startsWith('/') && path === ''
            ? part
            : `${path.replace(/\/+$/, '')}/${part.replace(/^\/+/, '')}`,
        ),
  },
};

const toBool = (value: Data): boolean => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return ['yes', '1', 'true'].includes(value.toLowerCase());
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number.isInteger(Number(value)) && value > 0;
  return Array.isArray(value) ? value.length > 0 : value instanceof Map && value.size > 0;
};

/** A text as one word of a POSIX shell (Python's `shlex.quote`). */
const shellQuote = (text: string): string => {
  if (text === '') return "''";
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
};

const groups = (
  value: Data,
  rgx: Data | undefined,
  ignorecase: Data | undefined,
  multiline: Data | undefined,
  sticky: boolean,
): Data => {
  const flags = {
    ignorecase: isTrue(ignorecase),
    multiline: isTrue(multiline),
    sticky,
    global: true,
  };
  const [found] = allMatches(pythonRegex(textOf(rgx), flags), textOf(value));
  return found ? found.slice(1).map(group => group ?? null) : null;
};

function toNumber(value: Data): Data {
  const text = textOf(value).trim();
  if (/^[-+]?\d+(?:_\d+)*$/.test(text)) {
    const whole = BigInt(text.replaceAll('_', '').replace(/^\+/, ''));
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return value;
  const number = Number(text);
  return Number.isInteger(number) || !Number.isFinite(number) ? new Float(number) : number;
}

const humanToBytes = (size: string, defaultUnit: string, metric: boolean): number => {
  const [, digits = '', written = ''] = /^([0-9.]*)\s*(.*)$/.exec(size.trim()) ?? [];
  const unit = (written || defaultUnit).toLowerCase();
  const value = digits === '' ? Number.NaN : Number(digits);
  if (Number.isNaN(value)) return 0;
  const decimal = /^[kmgtpezy]b$/.test(unit);
  if (!decimal && !/^(?:b|[kmgtpezy](?:ib)?)$/.test(unit)) return 0;
  const power = 'bkmgtpezy'.indexOf(unit.charAt(0));
  return Math.trunc(value * (decimal && metric ? 1000 ** power : 1024 ** power));
};
