import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { scalarText } from './python-text.ts';

type Element = {
  readonly tag: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly text?: string;
  readonly children: Element[];
};

/**
 * Formats a dictionary as an XML document: its key is the root element, scalars become attributes,
 * dictionaries elements, and lists repeated elements.
 *
 * @throws TypeError for other data: XML has exactly one root, and no null.
 */
export const formatXml = (value: Data): string => {
  if (!isDict(value)) throw new TypeError('the filter xml takes a dictionary: its key is the root');
  const root = elementsOf(value).at(-1);
  if (!root) throw new TypeError('the filter xml takes a dictionary with an element for the root');
  return `<?xml version="1.0" ?>\n${written(root, 0)}`;
};

const elementsOf = (dict: Dict): Element[] =>
  [...dict].flatMap(([tag, value]) =>
    Array.isArray(value)
      ? value.map(item => elementOf(String(tag), item))
      : [elementOf(String(tag), value)],
  );

const elementOf = (tag: string, value: Data): Element => {
  if (!/^[\p{L}_:][\p{L}\p{N}_:.-]*$/u.test(tag))
    throw new TypeError(`'${tag}' cannot be the name of an XML element`);
  if (value === null || Array.isArray(value))
    throw new TypeError(`the value of '${tag}' cannot be rendered as XML`);
  if (!isDict(value)) return { tag, attributes: [], text: scalarText(value), children: [] };
  const isInner = (item: Data): boolean => isDict(item) || Array.isArray(item);
  const pairs = [...value];
  return {
    tag,
    attributes: pairs
      .filter(([, item]) => !isInner(item))
      .map(([name, item]) => [String(name), scalarText(item)]),
    children: elementsOf(new Map(pairs.filter(([, item]) => isInner(item)))),
  };
};

const written = ({ tag, attributes, text, children }: Element, depth: number): string => {
  const space = ' '.repeat(depth);
  const start = `${space}<${tag}${attributes.map(([name, value]) => ` ${name}="${escaped(value)}"`).join('')}`;
  if (text !== undefined && text !== '') return `${start}>${escaped(text)}</${tag}>\n`;
  if (children.length === 0) return `${start}/>\n`;
  const inner = children.map(child => written(child, depth + 1)).join('');
  return `${start}>\n${inner}${space}</${tag}>\n`;
};

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('>', '&gt;');
