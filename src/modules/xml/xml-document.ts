import { xmlText } from '../_shared/text/xml-elements.ts';

/** An element of an XML document, and where in the text it stands. */
export type XmlElement = {
  /** Its name; in a namespace `{address}name`. */
  readonly tag: string;
  readonly attributes: { [name: string]: string };
  readonly children: XmlElement[];
  readonly parent: XmlElement | undefined;
  /** The text before the first child; undefined where there is none. */
  text: string | undefined;
  /** All text after it and before the next one. */
  tail: string;
  /** The start tag is `source.slice(start, startEnd)`. */
  readonly start: number;
  readonly startEnd: number;
  /** Where the text before the first child ends. */
  textEnd: number;
  /** It is written `<a/>`. */
  readonly isEmptyTag: boolean;
  /** Namespaces by prefix, as they are inside of it. */
  readonly namespaces: Namespaces;
};

type Namespaces = ReadonlyMap<string, string>;

const name = String.raw`[\p{L}_:][\p{L}\p{N}\p{M}_:.\-\u00b7]*`;
const piece = new RegExp(
  String.raw`<!--(?<comment>[\s\S]*?)-->|<!\[CDATA\[(?<cdata>[\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<!DOCTYPE(?<doctype>(?:[^[\]>"']|"[^"]*"|'[^']*'|\[[^\]]*\])*)>|</(?<close>${name})\s*>|<(?<open>${name})(?<attributes>(?:\s+${name}\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?<empty>/?)>|(?<text>[^<]+)`,
  'uy',
);
const attribute = new RegExp(
  String.raw`(?<key>${name})\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)')`,
  'gu',
);

/**
 * Parses an XML document with the position of every element, so that a change of one part of the
 * text leaves the others, including comments, unchanged.
 *
 * @throws SyntaxError with the line when the text is not XML
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a tokenizer: one branch for each kind of markup
export const readXml = (source: string): XmlElement => {
  let root: XmlElement | undefined;
  let at: XmlElement | undefined;
  piece.lastIndex = 0;
  while (piece.lastIndex < source.length) {
    const from = piece.lastIndex;
    const groups = piece.exec(source)?.groups;
    const fail = (why: string): SyntaxError =>
      new SyntaxError(`line ${lineOf(source, from)}: ${why}`);
    if (!groups) {
      // A byte order mark is not part of the text.
      if (from === 0 && source.startsWith('\ufeff')) {
        piece.lastIndex = 1;
        continue;
      }
      throw fail('this is no XML');
    }
    const { cdata, text, open, close, doctype } = groups;
    if (doctype?.includes('<!ENTITY')) throw fail('entities of a document type are not read here');
    const said = cdata ?? (text === undefined ? undefined : characters(text, fail));
    if (said !== undefined) {
      if (at) addText(at, said, piece.lastIndex);
      else if (said.trim() !== '' && said !== '\ufeff')
        throw fail('text outside of the root element');
    } else if (open !== undefined) {
      if (!at && root) throw fail('a second root element');
      const element = opened(at, groups, from, piece.lastIndex, fail);
      root ??= element;
      at?.children.push(element);
      if (!element.isEmptyTag) at = element;
    } else if (close !== undefined) {
      if (!at || named(source, at) !== close) throw fail(`</${close}> closes nothing that is open`);
      if (at.children.length === 0) at.textEnd = from;
      at = at.parent;
    }
  }
  if (at) throw new SyntaxError(`<${named(source, at)}> is not closed`);
  if (!root) throw new SyntaxError('there is no element');
  return root;
};

const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length;

const named = (source: string, { start }: XmlElement): string =>
  /^[^\s/>]*/.exec(source.slice(start + 1, start + 500))?.[0] ?? '';

const addText = (element: XmlElement, said: string, end: number): void => {
  const last = element.children.at(-1);
  if (last) last.tail += said;
  else {
    element.text = (element.text ?? '') + said;
    element.textEnd = end;
  }
};

type Fail = (why: string) => SyntaxError;

const characters = (raw: string, fail: Fail): string => {
  const unknown = /&(?!(?:lt|gt|amp|quot|apos|#\d+|#x[0-9a-fA-F]+);)[^;\s]*;?/.exec(raw)?.[0];
  if (unknown !== undefined) throw fail(`${unknown} is not known`);
  const [odd] = (raw.match(/&#\w+;/g) ?? []).filter(each => !isCharacter(each));
  if (odd !== undefined) throw fail(`${odd} is no character`);
  return xmlText(raw.replace(/\r\n?/g, '\n'));
};

/** Whether XML may hold the character of `&#10;` or `&#xa;`. */
const isCharacter = (written: string): boolean => {
  const code = Number(written.slice(2, -1).replace(/^x/, '0x'));
  return (
    [9, 10, 13].includes(code) ||
    (code >= 0x20 &&
      code <= 0x10ffff &&
      !(code >= 0xd800 && code <= 0xdfff) &&
      (code & ~1) !== 0xfffe)
  );
};

const opened = (
  parent: XmlElement | undefined,
  { open = '', attributes = '', empty = '' }: Record<string, string | undefined>,
  start: number,
  startEnd: number,
  fail: Fail,
): XmlElement => {
  const pairs = [...attributes.matchAll(attribute)].map(({ groups }): [string, string] => [
    groups?.key ?? '',
    characters((groups?.double ?? groups?.single ?? '').replace(/[\t\n]/g, ' '), fail),
  ]);
  const namespaces = new Map(parent?.namespaces ?? [['xml', xmlNamespace]]);
  for (const [key, value] of pairs) {
    if (key === 'xmlns') namespaces.set('', value);
    else if (key.startsWith('xmlns:')) namespaces.set(key.slice(6), value);
  }
  const own: Record<string, string> = {};
  for (const [key, value] of pairs) {
    if (key === 'xmlns' || key.startsWith('xmlns:')) continue;
    const full = key.includes(':') ? fullName(key, namespaces, fail) : key;
    if (Object.hasOwn(own, full)) throw fail(`attribute ${key} stands there twice`);
    own[full] = value;
  }
  return {
    tag: fullName(open, namespaces, fail),
    attributes: own,
    children: [],
    parent,
    text: undefined,
    tail: '',
    start,
    startEnd,
    textEnd: startEnd,
    isEmptyTag: empty === '/',
    namespaces,
  };
};

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

const fullName = (written: string, namespaces: Namespaces, fail: Fail): string => {
  const [prefix, local] = written.includes(':') ? written.split(/:(.*)/s) : ['', written];
  const address = namespaces.get(prefix ?? '');
  if (prefix !== '' && address === undefined) throw fail(`prefix ${prefix} has no namespace`);
  return address ? `{${address}}${local}` : (local ?? written);
};

/** All text inside of an element, that of its children too. */
export const innerText = ({ text = '', children }: XmlElement): string =>
  text + children.map(child => innerText(child) + child.tail).join('');

/** The document with another text before the first child of an element. */
export const withElementText = (source: string, element: XmlElement, text: string): string => {
  const { start, startEnd, textEnd, isEmptyTag } = element;
  const written = escapeText(text);
  if (!isEmptyTag) return source.slice(0, startEnd) + written + source.slice(textEnd);
  const tag = source.slice(start, startEnd).replace(/\s*\/>$/, '>');
  return `${source.slice(0, start)}${tag}${written}</${named(source, element)}>${source.slice(startEnd)}`;
};

/** The document with an attribute of an element set; a name in a namespace is `{address}name`. */
export const withAttribute = (
  source: string,
  element: XmlElement,
  key: string,
  value: string,
): string => {
  const { start, startEnd, namespaces } = element;
  const tag = source.slice(start, startEnd);
  const quoted = `"${escapeText(value)
    .replace(/"/g, '&quot;')
    .replace(/[\t\n]/g, reference)}"`;
  const place = [...tag.matchAll(attribute)].find(({ groups }) => {
    const written = groups?.key ?? '';
    return (written.includes(':') ? fullName(written, namespaces, SyntaxError) : written) === key;
  });
  const changed = place
    ? `${tag.slice(0, place.index)}${place.groups?.key}=${quoted}${tag.slice(place.index + place[0].length)}`
    : tag.replace(/(\s*\/?>)$/, end => ` ${writtenName(key, namespaces)}=${quoted}${end}`);
  return source.slice(0, start) + changed + source.slice(startEnd);
};

const writtenName = (key: string, namespaces: Namespaces): string => {
  const [, address, local] = /^\{([^}]*)\}(.*)$/s.exec(key) ?? [];
  const prefix =
    address === undefined
      ? undefined
      : [...namespaces].find(([known, url]) => known !== '' && url === address)?.[0];
  const written = address === undefined ? key : prefix && `${prefix}:${local}`;
  if (written === undefined || !new RegExp(`^${name}$`, 'u').test(written))
    throw new SyntaxError(`"${key}" cannot be the name of an attribute here`);
  return written;
};

const escapeText = (text: string): string => {
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text))
    throw new SyntaxError('the value has characters that XML cannot hold');
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[^\0-\x7f]|\r/gu, reference);
};

const reference = (character: string): string => `&#${character.codePointAt(0)};`;
