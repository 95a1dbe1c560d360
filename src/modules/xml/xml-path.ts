import { innerText, type XmlElement } from './xml-document.ts';

type Step = (found: Iterable<XmlElement>) => Iterable<XmlElement>;

const token =
  /('[^']*'|"[^"]*")|(::|\/\/?|\.\.|\(\)|!=|[/.*:[\]()@=])|((?:\{[^}]*\})?[^/[\]()@!=\s]+)|\s+/y;

/**
 * The first element for a path as Python's ElementTree reads it: `tag`, `*`, `.`, `..`, `//`,
 * `[@name]`, `[@name='x']`, `[tag]`, `[tag='x']`, `[.='x']`, `[2]`, `[last()]`, `[last()-1]`; also
 * `!=` instead of `=`, and `{address}tag` or `{*}tag` for names in namespaces.
 *
 * @throws SyntaxError where the path is none
 */
export const findElement = (root: XmlElement, path: string): XmlElement | undefined => {
  // A whole document is searched from its root element on.
  if (path === '') return undefined;
  const [first] = findAll(root, path.startsWith('/') ? `.${path}` : path);
  return first;
};

const findAll = (from: XmlElement, path: string): XmlElement[] => {
  const words = tokens(path.endsWith('/') ? `${path}*` : path);
  let found: Iterable<XmlElement> = [from];
  while (words.length > 0) {
    if (words[0] === '/') {
      words.shift();
      if (words.length === 0) break;
    }
    found = step(words, path)(found);
  }
  return [...found];
};

const tokens = (path: string): string[] => {
  const words: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < path.length) {
    const match = token.exec(path);
    if (!match) throw new SyntaxError(`"${path}" is no path of elements`);
    if (match[0].trim() !== '') words.push(match[0]);
  }
  return words;
};

const step = (words: string[], path: string): Step => {
  const word = words.shift() ?? '';
  if (word === '.') return found => found;
  if (word === '..') return parents;
  if (word === '[') return predicate(words, path);
  if (word === '//') {
    const next = words.shift();
    if (next === undefined || /^[/.[\]()@='"]/.test(next))
      throw new SyntaxError(`"${path}" is no path of elements`);
    return found => [...found].flatMap(element => below(element)).filter(named(next));
  }
  if (/^[[\]()@=!'":]/.test(word)) throw new SyntaxError(`"${path}" is no path of elements`);
  return found => [...found].flatMap(({ children }) => children.filter(named(word)));
};

const below = ({ children }: XmlElement): XmlElement[] =>
  children.flatMap(child => [child, ...below(child)]);

const parents: Step = found => new Set([...found].flatMap(({ parent }) => parent ?? []));

const named =
  (wanted: string) =>
  ({ tag }: XmlElement): boolean => {
    const [, address, local] = /^\{([^}]*)\}(.*)$/s.exec(wanted) ?? [undefined, undefined, wanted];
    const [, own = '', name] = /^\{([^}]*)\}(.*)$/s.exec(tag) ?? [undefined, '', tag];
    if (local !== '*' && local !== name) return false;
    return (
      address === '*' || (address === undefined ? local === '*' || own === '' : address === own)
    );
  };

const predicate = (words: string[], path: string): Step => {
  const end = words.indexOf(']');
  const inside = words.splice(0, end + 1).slice(0, -1);
  const test =
    end < 0 ? undefined : (attributeTest(inside) ?? positionTest(inside) ?? textTest(inside));
  if (!test) throw new SyntaxError(`"${path}" has a condition in brackets that is not known`);
  return found => [...found].filter(test);
};

type Test = (element: XmlElement) => boolean;

const unquoted = (word: string | undefined): string | undefined =>
  word !== undefined && /^['"]/.test(word) ? word.slice(1, -1) : undefined;

const attributeTest = ([at, key = '', sign, value, ...more]: string[]): Test | undefined => {
  if (at !== '@' || key === '' || more.length > 0) return undefined;
  const own = ({ attributes }: XmlElement): string | undefined =>
    Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (sign === undefined) return element => own(element) !== undefined;
  const wanted = unquoted(value);
  if (wanted === undefined) return undefined;
  if (sign === '=') return element => own(element) === wanted;
  return sign === '!='
    ? element => own(element) !== undefined && own(element) !== wanted
    : undefined;
};

const positionTest = (inside: string[]): Test | undefined => {
  const [, back = '0', place] = /^(?:last\(\)(?:-(\d+))?|(\d+))$/.exec(inside.join('')) ?? [];
  if (place === undefined && inside[0] !== 'last') return undefined;
  const index = place === undefined ? -1 - Number(back) : Number(place) - 1;
  if (place === '0') throw new SyntaxError('places in a path count from 1');
  // The elements of one name below a parent are counted once, not for each of them.
  const chosen = new Map<XmlElement, Map<string, XmlElement | undefined>>();
  return element => {
    const { parent, tag } = element;
    if (!parent) return false;
    const byTag = chosen.get(parent) ?? new Map<string, XmlElement | undefined>();
    chosen.set(parent, byTag);
    if (!byTag.has(tag))
      byTag.set(tag, parent.children.filter(child => child.tag === tag).at(index));
    return byTag.get(tag) === element;
  };
};

const textTest = ([tag = '', sign, value, ...more]: string[]): Test | undefined => {
  if (more.length > 0 || /^[[\]()@=!/*'"]/.test(tag) || tag === '') return undefined;
  const candidates = (element: XmlElement): XmlElement[] =>
    tag === '.' ? [element] : element.children.filter(named(tag));
  if (sign === undefined)
    return tag === '.' ? undefined : element => candidates(element).length > 0;
  const wanted = unquoted(value);
  if (wanted === undefined) return undefined;
  if (sign === '=') return element => candidates(element).some(one => innerText(one) === wanted);
  return sign === '!='
    ? element => candidates(element).some(one => innerText(one) !== wanted)
    : undefined;
};
