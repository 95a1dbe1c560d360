import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  type Der,
  derText,
  explicit,
  implicit,
  integer,
  octets,
  oid,
  oidText,
  readDer,
  sequence,
  setOf,
  tagged,
} from './der.ts';
import { checkMac, decrypt, encrypt, macOf, type Protection } from './pkcs12-crypt.ts';

/** The content of a PKCS 12 file (RFC 7292). */
export type Pkcs12 = {
  readonly key?: KeyObject | undefined;
  /** As DER, the key's own first. */
  readonly certificates: readonly Buffer[];
  readonly friendlyName?: string | null | undefined;
  /** It is sealed, and so read by a passphrase. */
  readonly isSealed?: boolean;
};

const id = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  keyBag: '1.2.840.113549.1.12.10.1.1',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certBag: '1.2.840.113549.1.12.10.1.3',
  x509: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
};

/** The bytes of such a file; without a protection nothing in it is encrypted. */
export const writePkcs12 = (
  { key, certificates, friendlyName }: Pkcs12,
  protection?: Protection,
): Buffer => {
  const own =
    key && certificates.length > 0 ? [attribute(id.localKeyId, octets(Buffer.from([1])))] : [];
  const name = friendlyName
    ? [attribute(id.friendlyName, tagged(0x1e, Buffer.from(friendlyName, 'utf16le').swap16()))]
    : [];
  const certs = certificates.map((der, at) =>
    bag(
      id.certBag,
      sequence(oid(id.x509), explicit(0, octets(der))),
      at === 0 ? [...name, ...own] : [],
    ),
  );
  const keys = key ? [keyBag(key, [...name, ...own], protection)] : [];
  const safe = sequence(
    ...(certs.length > 0 ? [safeContents(sequence(...certs), protection)] : []),
    ...(keys.length > 0 ? [safeContents(sequence(...keys))] : []),
  );
  return sequence(integer(3), dataInfo(safe), ...(protection ? [macOf(safe, protection)] : []));
};

const attribute = (type: string, value: Buffer): Buffer => sequence(oid(type), setOf(value));

const bag = (type: string, value: Buffer, attributes: readonly Buffer[]): Buffer =>
  sequence(oid(type), explicit(0, value), ...(attributes.length > 0 ? [setOf(...attributes)] : []));

const keyBag = (
  key: KeyObject,
  attributes: readonly Buffer[],
  protection: Protection | undefined,
): Buffer => {
  const plain = key.export({ format: 'der', type: 'pkcs8' });
  if (!protection) return bag(id.keyBag, plain, attributes);
  const { algorithm, encrypted } = encrypt(plain, protection);
  return bag(id.shroudedKeyBag, sequence(algorithm, octets(encrypted)), attributes);
};

const dataInfo = (content: Buffer): Buffer => sequence(oid(id.data), explicit(0, octets(content)));

const safeContents = (content: Buffer, protection?: Protection): Buffer => {
  if (!protection) return dataInfo(content);
  const { algorithm, encrypted } = encrypt(content, protection);
  const info = sequence(oid(id.data), algorithm, implicit(0, encrypted));
  return sequence(oid(id.encryptedData), explicit(0, sequence(integer(0), info)));
};

/** Whether bytes look like such a file. */
export const isPkcs12 = ({ children: [version, info] }: Der): boolean =>
  version?.tag === 0x02 &&
  version.body.equals(Buffer.from([3])) &&
  info?.children[0] !== undefined &&
  info.children[0].tag === 0x06 &&
  oidText(info.children[0]) === id.data;

/** @throws Error for a wrong passphrase or a file of another format */
export const readPkcs12 = (file: Der, passphrase: string | null): Pkcs12 => {
  const [, info, mac] = file.children;
  const safe = info?.children[1]?.children[0]?.body;
  if (!safe) throw new Error('it has no content');
  if (mac) checkMac(mac, safe, passphrase ?? '');
  const bags = readDer(safe).children.flatMap(part => bagsOf(part, passphrase ?? ''));
  const certificates = bags.flatMap(one => {
    const body = one.type === id.certBag ? one.value.children[1]?.children[0]?.body : undefined;
    return body ? [{ der: body, isOwn: one.isOwn }] : [];
  });
  const sorted = [
    ...certificates.filter(({ isOwn }) => isOwn),
    ...certificates.filter(({ isOwn }) => !isOwn),
  ];
  const key = bags.map(one => keyOf(one, passphrase ?? '')).find(one => one !== undefined);
  const friendlyName = bags.find(one => one.name !== undefined)?.name ?? null;
  return {
    key,
    certificates: sorted.map(({ der }) => der),
    friendlyName,
    isSealed: mac !== undefined,
  };
};

type Bag = {
  readonly type: string;
  readonly value: Der;
  readonly name: string | undefined;
  /** It belongs to the key. */
  readonly isOwn: boolean;
};

const bagsOf = (part: Der, passphrase: string): Bag[] =>
  readDer(contentOf(part, passphrase)).children.flatMap(one => {
    const [type, wrapped, attributes] = one.children;
    const value = wrapped?.children[0];
    if (!type || !value) return [];
    const said = new Map(
      attributes?.children.map(({ children: [key, values] }) => [
        key ? oidText(key) : '',
        values?.children[0],
      ]),
    );
    const name = said.get(id.friendlyName);
    return [
      {
        type: oidText(type),
        value,
        name: name && derText(name),
        isOwn: said.has(id.localKeyId),
      },
    ];
  });

const contentOf = (part: Der, passphrase: string): Buffer => {
  const [type, wrapped] = part.children;
  const content = wrapped?.children[0];
  if (!type || !content) throw new Error('a part of it has no content');
  if (oidText(type) === id.data) return content.body;
  const [, algorithm, encrypted] = content.children[1]?.children ?? [];
  if (oidText(type) !== id.encryptedData || !algorithm || !encrypted)
    throw new Error('a part of it is of a kind that is not known');
  return decrypt(algorithm, encrypted.body, passphrase);
};

const keyOf = ({ type, value }: Bag, passphrase: string): KeyObject | undefined => {
  const [algorithm, encrypted] = value.children;
  if (type === id.keyBag) return createPrivateKey({ key: value.raw, format: 'der', type: 'pkcs8' });
  if (type !== id.shroudedKeyBag || !algorithm || !encrypted) return undefined;
  const key = decrypt(algorithm, encrypted.body, passphrase);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
};
