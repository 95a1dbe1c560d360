import { raise } from '../jinja-error.ts';
import { replaceText } from '../methods/search.ts';
import { capitalize } from '../methods/shape.ts';
import { strip } from '../methods/split.ts';
import type { Operation, Operations } from '../run/run.ts';
import { isTruthy } from '../values/compare.ts';
import { charactersFrom, charCount, itemsOf } from '../values/iterate.ts';
import { wholeNumber } from '../values/number.ts';
import { repeatText } from '../values/operators.ts';
import { percentFormat } from '../values/percent.ts';
import { textOf, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import { isMap, tuple, type Value } from '../values/value.ts';
import { operations } from './define.ts';
import { urlize, wordWrap } from './prose.ts';

const whole = (value: Value): number =>
  wholeNumber(value) ?? raise(`'${typeName(value)}' object cannot be interpreted as an integer`);

const title = (text: string): string => text.replace(/[^-\s({[<]+/g, capitalize);

const indent = (text: string, width: Value, first: boolean, blank: boolean): string => {
  const space = typeof width === 'string' ? width : repeatText(' ', whole(width));
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  repeatText(' ', space.length * lines.length + text.length);
  const [head = '', ...rest] = lines;
  const tail = rest.map(line => `\n${blank || line !== '' ? space : ''}${line}`);
  return (first ? space : '') + head + tail.join('');
};

const truncate = (
  text: string,
  length: number,
  kill: boolean,
  end: string,
  leeway: number,
): string => {
  if (length < charCount(end)) return raise(`expected length >= ${charCount(end)}, got ${length}`);
  if (charCount(text) <= length + leeway) return text;
  const kept = charactersFrom(text, 0, length - charCount(end));
  if (kill) return kept + end;
  const space = kept.lastIndexOf(' ');
  return (space < 0 ? kept : kept.slice(0, space)) + end;
};

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ["'", '&#39;'],
  ['"', '&#34;'],
]);

const escapeHtml = (value: Value): string =>
  textOf(value).replace(/[&<>'"]/g, char => entities.get(char) ?? char);

const stripTags = (text: string): string =>
  unescapeHtml(
    without(without(text, '<!--', '-->'), '<', '>')
      .split(/\s+/)
      .filter(word => word !== '')
      .join(' '),
  );

/** Removes the parts of a text between these brackets. */
const without = (text: string, open: string, close: string): string => {
  let result = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return result + text.slice(at);
    result += text.slice(at, start);
    at = end + close.length;
  }
};

const unescapeHtml = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39|#34);/g, whole => {
    const char = {
      '&amp;': '&',
      '&lt;': '<',
      '&gt;': '>',
      '&quot;': '"',
      '&#39;': "'",
      '&#34;': '"',
    };
    return char[whole as keyof typeof char];
  });

const quoteUrl = (value: Value, keepSlash: boolean): string => {
  const encoded = encodeURIComponent(textOf(value)).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return keepSlash ? encoded.replaceAll('%2F', '/') : encoded.replaceAll('%20', '+');
};

const urlEncode = (value: Value): string => {
  if (typeof value === 'string' || !(isMap(value) || Array.isArray(value)))
    return quoteUrl(value, true);
  const pairs = isMap(value) ? Array.from(value) : value.map(itemsOf);
  return pairs
    .map(([key = null, item = null]) => `${quoteUrl(key, false)}=${quoteUrl(item, false)}`)
    .join('&');
};

const xmlAttributes = (value: Value, space: boolean): string => {
  if (!isMap(value)) return raise(`'${typeName(value)}' object has no attribute 'items'`);
  const pairs: string[] = [];
  for (const [key, item] of value) {
    if (item === null || item instanceof Undefined) continue;
    if (/[\s/>=]/.test(textOf(key))) raise(`Invalid character in attribute name: '${textOf(key)}'`);
    pairs.push(`${escapeHtml(key)}="${escapeHtml(item)}"`);
  }
  return pairs.length > 0 && space ? ` ${pairs.join(' ')}` : pairs.join(' ');
};

/** `format`: Python's `%`, with positional or named arguments. */
const format: Operation = (value, { list, named }, run) => {
  if (list.length > 0 && named.size > 0)
    return raise("can't handle positional and keyword arguments at the same time");
  const text = textOf(value);
  const argument = named.size > 0 ? new Map(named) : tuple(list);
  const result = percentFormat(text, argument);
  run.tracking?.formatted([text, argument], result, onPiece =>
    percentFormat(text, argument, onPiece),
  );
  return result;
};

const plain = operations({
  lower: [[], value => textOf(value).toLowerCase()],
  upper: [[], value => textOf(value).toUpperCase()],
  capitalize: [[], value => capitalize(textOf(value))],
  title: [[], value => title(textOf(value))],
  trim: [
    ['chars?'],
    (value, [chars = null]) =>
      strip(textOf(value), chars === null ? null : textOf(chars), true, true),
  ],
  string: [[], textOf],
  safe: [[], value => value],
  replace: [
    ['old', 'new', 'count?'],
    (value, [old = '', fresh = '', count = null]) =>
      replaceText(textOf(value), textOf(old), textOf(fresh), count === null ? -1 : whole(count)),
  ],
  indent: [
    ['width?', 'first?', 'blank?'],
    (value, [width = 4, first = false, blank = false]) =>
      indent(textOf(value), width, isTruthy(first), isTruthy(blank)),
  ],
  center: [
    ['width?'],
    (value, [width = 80]) => {
      const text = textOf(value);
      const room = Math.max(0, whole(width) - charCount(text));
      const left = Math.floor(room / 2) + (room & whole(width) & 1);
      return repeatText(' ', left) + text + repeatText(' ', room - left);
    },
  ],
  truncate: [
    ['length?', 'killwords?', 'end?', 'leeway?'],
    (value, [length = 255, kill = false, end = '...', leeway = null]) =>
      truncate(
        textOf(value),
        whole(length),
        isTruthy(kill),
        textOf(end),
        leeway === null ? 5 : whole(leeway),
      ),
  ],
  wordwrap: [
    ['width?', 'break_long_words?', 'wrapstring?', 'break_on_hyphens?'],
    (value, [width = 79, long = true, wrap = null, hyphens = true]) =>
      wordWrap(textOf(value), whole(width), {
        breaksLongWords: isTruthy(long),
        lineEnd: wrap === null ? '\n' : textOf(wrap),
        breaksOnHyphens: isTruthy(hyphens),
      }),
  ],
  wordcount: [[], value => (textOf(value).match(/[\p{L}\p{N}_]+/gu) ?? []).length],
  escape: [[], escapeHtml],
  e: [[], escapeHtml],
  forceescape: [[], escapeHtml],
  striptags: [[], value => stripTags(textOf(value))],
  urlencode: [[], urlEncode],
  xmlattr: [['autospace?'], (value, [space = true]) => xmlAttributes(value, isTruthy(space))],
  urlize: [
    ['trim_url_limit?', 'nofollow?', 'target?', 'rel?', 'extra_schemes?'],
    (value, [limit = null, nofollow = false, target = null, rel = null]) =>
      urlize(textOf(value), {
        limit: limit === null ? undefined : whole(limit),
        target: target === null ? undefined : textOf(target),
        rel: [
          ...(rel === null ? [] : textOf(rel).split(' ')),
          ...(isTruthy(nofollow) ? ['nofollow'] : []),
          'noopener',
        ],
      }),
  ],
});

/** Jinja's filters on texts. */
export const jinjaTextFilters: Operations = new Map([...plain, ['format', format] as const]);
