import { isPlainDict } from '../../protocol/plain.ts';
import { SaltInvocationError } from '../api.ts';
import { explicit, implicit, integer, integerOf, readDer, sequence } from './der.ts';
import { type Certificate, signerIn } from './x509-certificate.ts';
import {
  bitsAt,
  type Extension,
  extensionName,
  extensionsOf,
  generalName,
  listKinds,
  wrong,
} from './x509-extensions.ts';

/** Extensions of RFC 5280 that certificates have as well. */
const shared = [
  'authorityKeyIdentifier',
  'authorityInfoAccess',
  'issuerAltName',
  'freshestCRL',
] as const;

/** The number of a list, where it has one. */
export const crlNumber = (extensions: readonly Extension[]): bigint | undefined => {
  const found = extensions.find(({ id }) => id === listKinds.cRLNumber.id);
  return found ? integerOf(readDer(found.value)) : undefined;
};

/** Names of the wanted extensions that a list has otherwise, or not at all. */
export const otherExtensions = (
  present: readonly Extension[],
  wanted: readonly Extension[],
): string[] =>
  wanted
    .filter(({ id, critical, value }) => {
      const same = present.find(one => one.id === id);
      return same?.critical !== critical || !same.value.equals(value);
    })
    .map(({ id }) => extensionName(id));

/** Flags of a revocation's reasons, by their place in a string of bits. */
const reasonFlags = [
  'unused',
  'keyCompromise',
  'cACompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  'privilegeWithdrawn',
  'aACompromise',
];

/**
 * The extensions that a list of revoked certificates is to have.
 *
 * @param authority - Whose list it is.
 * @param number - The list's own number, for `cRLNumber: auto`.
 * @throws SaltInvocationError for a name or value that no such extension has
 */
export const crlExtensions = (
  given: Readonly<Record<string, unknown>>,
  authority: Certificate,
  number: bigint,
): Extension[] => {
  const context = { publicKey: authority.publicKey, issuer: signerIn(authority) };
  return Object.entries(given).flatMap(([name, value]): Extension[] => {
    if (shared.some(one => one === name)) return extensionsOf({ [name]: value }, context);
    if (name === 'cRLNumber')
      return [
        {
          id: listKinds.cRLNumber.id,
          critical: false,
          value: integer(value === 'auto' ? number : wholeOf(name, String(value))),
        },
      ];
    if (name === 'deltaCRLIndicator') return [delta(name, String(value))];
    if (name === 'issuingDistributionPoint') return [distribution(name, value)];
    throw new SaltInvocationError(`'${name}' is no extension of a revocation list`);
  });
};

const wholeOf = (name: string, text: string): bigint => {
  if (!/^\d+$/.test(text)) throw wrong(name, text);
  return BigInt(text);
};

/** The number of the list that this one adds to: `critical, 3`. */
const delta = (name: string, text: string): Extension => {
  const [, critical, number = text] = /^(critical\b[\s,]*)?(\d+)$/.exec(text.trim()) ?? [];
  return {
    id: listKinds.deltaCRLIndicator.id,
    critical: critical !== undefined,
    value: integer(wholeOf(name, number)),
  };
};

const distribution = (name: string, value: unknown): Extension => {
  if (!isPlainDict(value)) throw new SaltInvocationError(`${name} must be a dictionary`);
  const { critical, fullname, onlyuser, onlyCA, onlyAA, indirectCRL, onlysomereasons, ...rest } =
    value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw wrong(name, unknown);
  const names = listOf(fullname).map(word => generalName(word, name));
  const flag = (number: number, set: unknown): Buffer[] =>
    set === true ? [implicit(number, Buffer.of(0xff))] : [];
  const reasons = listOf(onlysomereasons).map(word => {
    const at = reasonFlags.indexOf(word);
    if (at < 1) throw wrong(name, word);
    return at;
  });
  return {
    id: listKinds.issuingDistributionPoint.id,
    critical: critical === true,
    value: sequence(
      ...(names.length > 0 ? [explicit(0, explicit(0, ...names))] : []),
      ...flag(1, onlyuser),
      ...flag(2, onlyCA),
      ...(reasons.length > 0 ? [implicit(3, bitsAt(reasons).subarray(2))] : []),
      ...flag(4, indirectCRL),
      ...flag(5, onlyAA),
    ),
  };
};

const listOf = (value: unknown): string[] =>
  value === undefined || value === null ? [] : [value].flat().map(String);
