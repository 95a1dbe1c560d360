import { integerOf, oidText, readDer } from './der.ts';
import { dateText } from './desired-certificate.ts';
import {
  type Certificate,
  certificateFingerprint,
  colons,
  publicKeyOf,
} from './x509-certificate.ts';
import { type Extension, extensionName, listKinds, purposes } from './x509-extensions.ts';
import { keySizeOf } from './x509-keys.ts';
import { readName } from './x509-names.ts';

const usageNames = [
  'Digital Signature',
  'Non Repudiation',
  'Key Encipherment',
  'Data Encipherment',
  'Key Agreement',
  'Certificate Sign',
  'CRL Sign',
  'Encipher Only',
  'Decipher Only',
];

/** Extensions by their names, in openssl's words where these are common, else as bytes. */
export const showExtensions = (extensions: readonly Extension[]): Record<string, string> =>
  Object.fromEntries(
    extensions.map(({ id, critical, value }) => [
      extensionName(id),
      `${critical ? 'critical ' : ''}${words(id, value)}`,
    ]),
  );

const words = (id: string, value: Buffer): string => {
  const read = readDer(value);
  if (id === '2.5.29.19') return constraints(value);
  if (id === '2.5.29.15') return usage(read.body);
  if (id === '2.5.29.37')
    return read.children.map(purpose => purposeName(oidText(purpose))).join(', ');
  if (id === '2.5.29.14') return colons(read.body);
  if (id === listKinds.cRLNumber.id || id === listKinds.deltaCRLIndicator.id)
    return integerOf(read).toString();
  if (id === '2.5.29.17' || id === '2.5.29.18')
    return read.children.map(({ tag, body }) => generalName(tag & 0x1f, body)).join(', ');
  if (id === '2.5.29.35') {
    const keyId = read.children.find(({ tag }) => tag === 0x80);
    return keyId ? `keyid:${colons(keyId.body)}` : colons(value);
  }
  return read.tag === 0x16 || read.tag === 0x0c ? read.body.toString('utf8') : colons(value);
};

const constraints = (value: Buffer): string => {
  const { children } = readDer(value);
  const isCa = children.some(({ tag, body }) => tag === 0x01 && body[0] !== 0);
  const depth = children.find(({ tag }) => tag === 0x02);
  return `CA:${isCa ? 'TRUE' : 'FALSE'}${depth ? `, pathlen:${integerOf(depth)}` : ''}`;
};

const usage = (body: Buffer): string =>
  usageNames.filter((_, at) => ((body[1 + (at >> 3)] ?? 0) & (0x80 >> (at & 7))) !== 0).join(', ');

const purposeName = (id: string): string =>
  Object.entries(purposes).find(([, known]) => known === id)?.[0] ?? id;

const generalName = (kind: number, body: Buffer): string => {
  if (kind === 7 && body.length === 4) return `IP Address:${[...body].join('.')}`;
  if (kind === 7)
    return `IP Address:${body
      .toString('hex')
      .toUpperCase()
      .replace(/(.{4})(?=.)/g, '$1:')}`;
  const names: Record<number, string> = { 1: 'email', 2: 'DNS', 6: 'URI' };
  return `${names[kind] ?? `[${kind}]`}:${body.toString('latin1')}`;
};

/** A certificate as `x509.read_certificate` shows it. */
export const showCertificate = (certificate: Certificate) => {
  const key = publicKeyOf(certificate.publicKey);
  return {
    ...(keySizeOf(key) === undefined ? {} : { 'Key Size': keySizeOf(key) ?? 0 }),
    'Serial Number': colons(certificate.serial),
    'SHA-256 Finger Print': certificateFingerprint('sha256', certificate.der),
    'SHA1 Finger Print': certificateFingerprint('sha1', certificate.der),
    'MD5 Finger Print': certificateFingerprint('md5', certificate.der),
    Subject: readName(certificate.subject),
    Issuer: readName(certificate.issuer),
    'Not Before': dateText(certificate.from),
    'Not After': dateText(certificate.until),
    'Public Key': key.export({ format: 'pem', type: 'spki' }).toString(),
    'X509v3 Extensions': showExtensions(certificate.extensions),
  };
};
