import { getOwn } from '../../protocol/plain.ts';
import { SaltInvocationError } from '../api.ts';
import {
  type Der,
  derText,
  ia5,
  oid,
  oidText,
  printable,
  readDer,
  sequence,
  setOf,
  utf8,
} from './der.ts';

/** Salt's names of the parts of a subject, in the order they are written. */
const attributes: Readonly<Record<string, string>> = {
  C: '2.5.4.6',
  ST: '2.5.4.8',
  L: '2.5.4.7',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  DC: '0.9.2342.19200300.100.1.25',
  T: '2.5.4.12',
  CN: '2.5.4.3',
  MAIL: '1.2.840.113549.1.9.1',
  SN: '2.5.4.4',
  GN: '2.5.4.42',
  UID: '0.9.2342.19200300.100.1.1',
  SERIALNUMBER: '2.5.4.5',
};

const aliases: Readonly<Record<string, string>> = {
  Email: 'MAIL',
  emailAddress: 'MAIL',
  title: 'T',
  serialNumber: 'SERIALNUMBER',
  streetAddress: 'STREET',
  commonName: 'CN',
};

/** Names that a keyword of a certificate may have for a part of its subject. */
export const subjectNames: readonly string[] = [
  ...Object.keys(attributes),
  ...Object.keys(aliases),
];

type Part = readonly [name: string, value: string];

/**
 * The subject that keywords name, or `subject`: a mapping, a list of `CN=…` or such a text.
 *
 * @throws SaltInvocationError for a name nobody knows
 */
export const subjectOf = (keywords: Readonly<Record<string, unknown>>): Buffer => {
  const parts = [...partsOf(keywords.subject), ...ordered(keywords)];
  return sequence(...parts.map(encodePart));
};

const ordered = (keywords: Readonly<Record<string, unknown>>): Part[] => {
  const given = new Map<string, string>();
  for (const name of subjectNames) {
    const value = keywords[name];
    if (value !== undefined && value !== null)
      given.set(getOwn(aliases, name) ?? name, String(value));
  }
  return Object.keys(attributes).flatMap(name => {
    const value = given.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
};

const partsOf = (subject: unknown): Part[] => {
  if (subject === undefined || subject === null) return [];
  if (Array.isArray(subject)) return subject.flatMap(partsOf);
  if (typeof subject === 'object') return ordered(checked(subject as Record<string, unknown>));
  const words = String(subject)
    .split(/(?<!\\),/)
    .map(word => word.trim().replaceAll('\\,', ','))
    .filter(word => word !== '');
  return words.map(word => {
    const [, name = '', value = ''] = /^([A-Za-z]+)\s*=\s*(.*)$/.exec(word) ?? [];
    const known = getOwn(aliases, name) ?? name;
    if (Object.hasOwn(attributes, known)) return [known, value] as const;
    throw new SaltInvocationError(`The subject has a part that is not known: ${word}`);
  });
};

const checked = (subject: Record<string, unknown>): Record<string, unknown> => {
  const wrong = Object.keys(subject).find(name => !subjectNames.includes(name));
  if (wrong === undefined) return subject;
  throw new SaltInvocationError(`The subject has a part that is not known: ${wrong}`);
};

const encodePart = ([name, value]: Part): Buffer => {
  const text =
    name === 'MAIL' || name === 'DC'
      ? ia5(value)
      : name === 'C' || name === 'SERIALNUMBER'
        ? printable(value)
        : utf8(value);
  return setOf(sequence(oid(getOwn(attributes, name) ?? ''), text));
};

/** A name as a mapping of Salt's short names. */
export const readName = (name: Der | Buffer): Record<string, string> => {
  const { children } = Buffer.isBuffer(name) ? readDer(name) : name;
  const byOid = new Map(Object.entries(attributes).map(([short, id]) => [id, short]));
  const parts: Record<string, string> = {};
  for (const set of children)
    for (const { children: pair } of set.children) {
      const [type, value] = pair;
      if (!type || !value) continue;
      const short = byOid.get(oidText(type)) ?? oidText(type);
      parts[short] = short in parts ? `${parts[short]}, ${derText(value)}` : derText(value);
    }
  return parts;
};
