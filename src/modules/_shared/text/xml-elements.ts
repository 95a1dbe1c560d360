import { getOwn } from '../../../protocol/plain.ts';

/** An element of a small XML answer of a program: its attributes, and the text between its tags. */
type Element = { readonly attributes: { readonly [name: string]: string }; readonly inner: string };

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/** A text as XML has it, with its entities read. */
export const xmlText = (text: string): string =>
  text
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, number, name) =>
      hex || number
        ? String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(number))
        : (getOwn(entities, name) ?? whole),
    );

/** All elements of a name, those inside others too. */
export const xmlElements = (xml: string, name: string): Element[] =>
  [
    ...xml.matchAll(
      new RegExp(`<${name}((?:\\s+[\\w:-]+="[^"]*")*)\\s*(?:/>|>([\\s\\S]*?)</${name}>)`, 'g'),
    ),
  ].map(([, attributes = '', inner = '']) => ({
    inner,
    attributes: Object.fromEntries(
      [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        xmlText(value),
      ]),
    ),
  }));
