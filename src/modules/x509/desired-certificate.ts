import type { KeyObject } from 'node:crypto';
import { getOwn, isPlainDict } from '../../protocol/plain.ts';
import { configOption } from '../_shared/states/config-option.ts';
import { type PlainDict, SaltInvocationError } from '../api.ts';
import { readDer } from './der.ts';
import { type Certificate, newSerial, readCertificate, signerIn } from './x509-certificate.ts';
import {
  type Extension,
  type ExtensionContext,
  extensionsOf,
  isExtension,
  refusedExtensions,
} from './x509-extensions.ts';
import { loadPrivateKey, loadPublicKey, signerOf, spkiOf } from './x509-keys.ts';
import { subjectNames, subjectOf } from './x509-names.ts';
import { readRequest } from './x509-requests.ts';

/** The desired certificate. */
export type DesiredCertificate = {
  readonly key: KeyObject;
  readonly digest: string;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly extensions: readonly Extension[];
  readonly serial: bigint;
  readonly hasSerial: boolean;
  readonly from: Date | undefined;
  readonly until: Date | undefined;
  readonly days: number;
};

const known = [
  'signing_private_key',
  'signing_private_key_passphrase',
  'signing_cert',
  'signing_policy',
  'public_key',
  'public_key_passphrase',
  'private_key',
  'private_key_passphrase',
  'csr',
  'subject',
  'serial_number',
  'not_before',
  'not_after',
  'days_valid',
  'digest',
  'algorithm',
  'version',
];

const refused: Readonly<Record<string, string>> = {
  ca_server:
    "'ca_server' is not supported: hosts do not ask each other; sign with signing_private_key",
  copypath: "'copypath' is not supported: manage a second file with contents",
  prepend_cn: "'prepend_cn' is not supported: it goes with copypath",
  managed_private_key: "'managed_private_key' is not supported: use x509.private_key_managed",
};

/**
 * Refuses keywords that nobody knows, or that are not done here.
 *
 * @throws SaltInvocationError naming the first of them
 */
export const checkKeywords = (keywords: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(keywords)) {
    if (value === null || value === undefined || value === false) continue;
    if (Object.hasOwn(refused, name)) throw new SaltInvocationError(refused[name] ?? name);
    if (refusedExtensions.includes(name))
      throw new SaltInvocationError(`The extension '${name}' is not supported`);
    if (!known.includes(name) && !subjectNames.includes(name) && !isExtension(name))
      throw new SaltInvocationError(`'${name}' is no argument of a certificate`);
  }
};

/** The keywords with those of their signing policy (`x509_signing_policies`) over them. */
const withPolicy = async (
  keywords: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> => {
  const { signing_policy: name, ...rest } = keywords;
  if (name === undefined || name === null) return rest;
  return { ...rest, ...(await signingPolicy(String(name))) };
};

/** A signing policy of the configuration or the pillar. */
export const signingPolicy = async (name: string): Promise<PlainDict> => {
  const policies = await configOption('x509_signing_policies');
  const found = isPlainDict(policies) ? getOwn(policies, name) : undefined;
  const parts = Array.isArray(found)
    ? found.filter(isPlainDict)
    : isPlainDict(found)
      ? [found]
      : [];
  if (parts.length === 0) throw new SaltInvocationError(`There is no signing policy '${name}'`);
  const { minions: _, ...policy } = Object.assign({}, ...parts) as PlainDict;
  return policy;
};

/**
 * Reads keys, request and issuer that the keywords name. `present`: the certificate that is
 * there, whose serial number stays.
 */
export const desiredCertificate = async (
  given: Readonly<Record<string, unknown>>,
  present?: Certificate,
): Promise<DesiredCertificate> => {
  checkKeywords(given);
  const keywords = await withPolicy(given);
  const text = (name: string): string | undefined =>
    keywords[name] === undefined || keywords[name] === null ? undefined : String(keywords[name]);
  const signing = text('signing_private_key') ?? text('private_key');
  if (signing === undefined)
    throw new SaltInvocationError("A certificate needs 'signing_private_key' to be signed by");
  const key = loadPrivateKey(
    signing,
    text('signing_private_key') === undefined
      ? text('private_key_passphrase')
      : text('signing_private_key_passphrase'),
  );
  const signingCert = text('signing_cert');
  const authority = signingCert === undefined ? undefined : readCertificate(signingCert);
  if (authority && !authority.publicKey.equals(spkiOf(key)))
    throw new SaltInvocationError(
      "Signing private key does not match the certificate's public key",
    );
  const csr = text('csr');
  const request = csr === undefined ? undefined : readRequest(csr);
  const publicKey = publicKeyOf(keywords, request?.publicKey, key, authority !== undefined);
  const own = subjectOf(keywords);
  const subject = readDer(own).children.length === 0 && request ? request.subject : own;
  const serial = serialOf(text('serial_number'));
  const issuer = authority?.subject ?? subject;
  const kept = serial ?? present?.serial ?? newSerial();
  const context: ExtensionContext = {
    publicKey,
    issuer: authority ? signerIn(authority) : { publicKey, name: issuer, serial: kept },
  };
  const extensions = extensionsOf(keywords, context);
  const named = new Set(extensions.map(({ id }) => id));
  return {
    key,
    digest: digestIn(keywords, key),
    issuer,
    subject,
    publicKey,
    extensions: [...(request?.extensions.filter(({ id }) => !named.has(id)) ?? []), ...extensions],
    serial: kept,
    hasSerial: serial !== undefined,
    from: dateOf(text('not_before'), 'not_before'),
    until: dateOf(text('not_after'), 'not_after'),
    days: daysOf(text('days_valid') ?? '365'),
  };
};

const publicKeyOf = (
  {
    public_key,
    public_key_passphrase,
    private_key,
    private_key_passphrase,
  }: Readonly<Record<string, unknown>>,
  requested: Buffer | undefined,
  signing: KeyObject,
  hasAuthority: boolean,
): Buffer => {
  const given = public_key ?? private_key;
  const passphrase = public_key === undefined ? private_key_passphrase : public_key_passphrase;
  if (given !== undefined && given !== null)
    return spkiOf(loadPublicKey(String(given), passphrase as string | null | undefined));
  if (requested) return requested;
  if (!hasAuthority) return spkiOf(signing);
  throw new SaltInvocationError("A signed certificate needs 'public_key', 'private_key' or 'csr'");
};

export const digestIn = (
  { digest, algorithm }: Readonly<Record<string, unknown>>,
  key: KeyObject,
): string => {
  const name = String(digest ?? algorithm ?? 'sha256').toLowerCase();
  signerOf(key, name);
  return name;
};

const serialOf = (text: string | undefined): bigint | undefined => {
  if (text === undefined) return undefined;
  const hex = text.replaceAll(':', '');
  if (/^\d+$/.test(text)) return BigInt(text);
  if (/^(?:0x)?[0-9A-Fa-f]+$/.test(hex)) return BigInt(`0x${hex.replace(/^0x/, '')}`);
  throw new SaltInvocationError(`The serial number ${text} is no number`);
};

/** A serial number as people write it: a number, or hexadecimal digits with or without colons. */
export const readSerial = (text: string): bigint => serialOf(text) ?? 0n;

/** Salt's dates: `YYYY-MM-DD HH:MM:SS`, in UTC. */
export const dateOf = (text: string | undefined, name: string): Date | undefined => {
  if (text === undefined) return undefined;
  const date = new Date(`${text.replace(' ', 'T')}Z`);
  if (/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d$/.test(text) && !Number.isNaN(date.getTime()))
    return date;
  throw new SaltInvocationError(`'${name}' must be YYYY-MM-DD HH:MM:SS, not ${text}`);
};

export const dateText = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ');

export const addDays = (date: Date, days: number): Date =>
  new Date(date.getTime() + days * 86_400_000);

const daysOf = (text: string): number => {
  const days = Number(text);
  if (Number.isFinite(days) && days > 0) return days;
  throw new SaltInvocationError(`'days_valid' must be a number of days, not ${text}`);
};

/** From when until when: seconds, since certificates know no more. */
export const validity = ({
  from,
  until,
  days,
}: DesiredCertificate): { from: Date; until: Date } => {
  const begin = from ?? new Date(Math.floor(Date.now() / 1000) * 1000);
  return { from: begin, until: until ?? addDays(begin, days) };
};
