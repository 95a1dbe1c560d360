import { createHash } from 'node:crypto';
import { getOwn } from '../../protocol/plain.ts';
import { parseAddress } from '../_shared/text/ip-address.ts';
import { SaltInvocationError } from '../api.ts';
import {
  bits,
  explicit,
  ia5,
  implicit,
  integer,
  nothing,
  octets,
  oid,
  readDer,
  sequence,
  tagged,
  truth,
} from './der.ts';

/** The keys and names that extensions are made from, in addition to their values. */
export type ExtensionContext = {
  /** The key that is certified (SubjectPublicKeyInfo). */
  readonly publicKey: Buffer;
  /** The signer: its key, name, serial, and key identifier. */
  readonly issuer?: {
    readonly publicKey: Buffer;
    readonly name: Buffer;
    readonly serial: bigint;
    readonly keyId?: Buffer;
  };
};

export type Extension = { readonly id: string; readonly critical: boolean; readonly value: Buffer };

type Kind = {
  readonly id: string;
  /** Its name in openssl's words, which SLS may use too. */
  readonly long?: string;
  readonly encode: (words: readonly string[], context: ExtensionContext, name: string) => Buffer;
};

const usages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

export const purposes: Readonly<Record<string, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
};

/** The error for an unknown value of an extension. */
export const wrong = (name: string, word: string): SaltInvocationError =>
  new SaltInvocationError(`The extension ${name} has a value that is not known: ${word}`);

const constraints: Kind['encode'] = (words, _, name) => {
  let ca = false;
  let depth: number | undefined;
  for (const word of words) {
    const [, key = '', value = ''] = /^(\w+)\s*[:=]\s*(\w+)$/.exec(word) ?? [];
    if (key.toLowerCase() === 'ca') ca = value.toLowerCase() === 'true';
    else if (key.toLowerCase() === 'pathlen' && /^\d+$/.test(value)) depth = Number(value);
    else throw wrong(name, word);
  }
  return sequence(...(ca ? [truth(true)] : []), ...(depth === undefined ? [] : [integer(depth)]));
};

const usage: Kind['encode'] = (words, _, name) => {
  const set = words.map(word => {
    const at = usages.indexOf(word === 'contentCommitment' ? 'nonRepudiation' : word);
    if (at < 0) throw wrong(name, word);
    return at;
  });
  return bitsAt(set);
};

/** A string of bits of which these are set. */
export const bitsAt = (set: readonly number[]): Buffer => {
  const last = Math.max(0, ...set);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const at of set) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (0x80 >> (at & 7));
  return bits(bytes, 7 - (last & 7));
};

const purpose: Kind['encode'] = (words, _, name) =>
  sequence(
    ...words.map(word => {
      const id = getOwn(purposes, word) ?? word;
      if (!/^\d+(?:\.\d+)+$/.test(id)) throw wrong(name, word);
      return oid(id);
    }),
  );

/** RFC 5280's usual key identifier: the SHA-1 of the key's bits. */
export const keyIdOf = (publicKey: Buffer): Buffer => {
  const key = readDer(publicKey).children[1]?.body.subarray(1) ?? publicKey;
  return createHash('sha1').update(key).digest();
};

const subjectKey: Kind['encode'] = ([word = 'hash'], { publicKey }, name) => {
  if (word === 'hash') return octets(keyIdOf(publicKey));
  const hex = word.replaceAll(':', '');
  if (!/^(?:[0-9A-Fa-f]{2})+$/.test(hex)) throw wrong(name, word);
  return octets(Buffer.from(hex, 'hex'));
};

const authorityKey: Kind['encode'] = (words, { issuer, publicKey }, name) => {
  const unknown = words.find(word => !/^(?:keyid|issuer)(?::always)?$/.test(word));
  if (unknown !== undefined) throw wrong(name, unknown);
  const keyId = issuer?.keyId ?? keyIdOf(issuer?.publicKey ?? publicKey);
  const withKey = words.some(word => word.startsWith('keyid'));
  const withIssuer = words.includes('issuer:always') || !withKey;
  return sequence(
    ...(withKey ? [implicit(0, keyId)] : []),
    ...(withIssuer && issuer
      ? [explicit(1, explicit(4, issuer.name)), implicit(2, integer(issuer.serial).subarray(2))]
      : []),
  );
};

const address = (text: string, name: string): Buffer => {
  const parsed = parseAddress(text);
  if (!parsed) throw wrong(name, `IP:${text}`);
  return Buffer.from(parsed.value.toString(16).padStart(parsed.bits / 4, '0'), 'hex');
};

/** `DNS:…`, `IP:…`, `email:…`, `URI:…`, `RID:…`. */
export const generalName = (word: string, name: string): Buffer => {
  const at = word.indexOf(':');
  const [kind, value] = [word.slice(0, at).trim().toLowerCase(), word.slice(at + 1).trim()];
  if (kind === 'dns') return implicit(2, Buffer.from(value, 'latin1'));
  if (kind === 'email') return implicit(1, Buffer.from(value, 'latin1'));
  if (kind === 'uri') return implicit(6, Buffer.from(value, 'latin1'));
  if (kind === 'ip' || kind === 'ip address') return implicit(7, address(value, name));
  if (kind === 'rid') return implicit(8, readDer(oid(value)).body);
  throw wrong(name, word);
};

const names: Kind['encode'] = (words, _, name) =>
  sequence(...words.map(word => generalName(word, name)));

const points: Kind['encode'] = (words, _, name) =>
  sequence(...words.map(word => sequence(explicit(0, explicit(0, generalName(word, name))))));

const access: Kind['encode'] = (words, _, name) =>
  sequence(
    ...words.map(word => {
      const [, method = '', place = ''] = /^(\w+)\s*;\s*(.+)$/.exec(word) ?? [];
      const id = { ocsp: '1.3.6.1.5.5.7.48.1', caissuers: '1.3.6.1.5.5.7.48.2' }[
        method.toLowerCase()
      ];
      if (id === undefined) throw wrong(name, word);
      return sequence(oid(id), generalName(place, name));
    }),
  );

const policies: Kind['encode'] = (words, _, name) =>
  sequence(
    ...words.map(word => {
      if (!/^\d+(?:\.\d+)+$/.test(word)) throw wrong(name, word);
      return sequence(oid(word));
    }),
  );

const features: Kind['encode'] = (words, _, name) =>
  sequence(
    ...words.map(word => {
      const number = { status_request: 5, status_request_v2: 17 }[word];
      if (number === undefined) throw wrong(name, word);
      return integer(number);
    }),
  );

/** A count of certificates, as `3` or `value:3`. */
const inhibited: Kind['encode'] = ([word = ''], _, name) => {
  const count = word.replace(/^value\s*:\s*/, '');
  if (!/^\d+$/.test(count)) throw wrong(name, word);
  return integer(Number(count));
};

const policyLimits: Kind['encode'] = (words, _, name) => {
  const given = new Map(
    words.map(word => {
      const [, key = '', count = ''] =
        /^(requireExplicitPolicy|inhibitPolicyMapping)\s*:\s*(\d+)$/.exec(word) ?? [];
      if (key === '') throw wrong(name, word);
      return [key, readDer(integer(Number(count))).body] as const;
    }),
  );
  const [explicitly, mapping] = [
    given.get('requireExplicitPolicy'),
    given.get('inhibitPolicyMapping'),
  ];
  return sequence(
    ...(explicitly ? [implicit(0, explicitly)] : []),
    ...(mapping ? [implicit(1, mapping)] : []),
  );
};

/** `permitted;DNS:.example.com`, `excluded;IP:10.0.0.0/255.0.0.0` or `/8`. */
const nameLimits: Kind['encode'] = (words, _, name) => {
  const subtrees = (scope: string): Buffer[] =>
    words.flatMap(word => {
      const [, where = '', what = ''] = /^(permitted|excluded)\s*;\s*(.+)$/.exec(word) ?? [];
      if (where === '') throw wrong(name, word);
      const net = /^ip\s*:\s*(.+)\/(.+)$/i.exec(what);
      if (where !== scope) return [];
      return [sequence(net ? network(net[1] ?? '', net[2] ?? '', name) : generalName(what, name))];
    });
  const [permitted, excluded] = [subtrees('permitted'), subtrees('excluded')];
  return sequence(
    ...(permitted.length > 0 ? [explicit(0, ...permitted)] : []),
    ...(excluded.length > 0 ? [explicit(1, ...excluded)] : []),
  );
};

const network = (first: string, mask: string, name: string): Buffer => {
  const bytes = address(first, name);
  if (!/^\d+$/.test(mask)) return implicit(7, Buffer.concat([bytes, address(mask, name)]));
  const size = bytes.length * 8;
  if (Number(mask) > size) throw wrong(name, `IP:${first}/${mask}`);
  const ones = '1'.repeat(Number(mask)).padEnd(size, '0').match(/.{8}/g) ?? [];
  return implicit(
    7,
    Buffer.concat([bytes, Buffer.from(ones.map(each => Number.parseInt(each, 2)))]),
  );
};

const kinds: Readonly<Record<string, Kind>> = {
  basicConstraints: { id: '2.5.29.19', long: 'X509v3 Basic Constraints', encode: constraints },
  keyUsage: { id: '2.5.29.15', long: 'X509v3 Key Usage', encode: usage },
  extendedKeyUsage: { id: '2.5.29.37', long: 'X509v3 Extended Key Usage', encode: purpose },
  subjectKeyIdentifier: {
    id: '2.5.29.14',
    long: 'X509v3 Subject Key Identifier',
    encode: subjectKey,
  },
  authorityKeyIdentifier: {
    id: '2.5.29.35',
    long: 'X509v3 Authority Key Identifier',
    encode: authorityKey,
  },
  subjectAltName: { id: '2.5.29.17', long: 'X509v3 Subject Alternative Name', encode: names },
  issuerAltName: { id: '2.5.29.18', long: 'X509v3 Issuer Alternative Name', encode: names },
  crlDistributionPoints: {
    id: '2.5.29.31',
    long: 'X509v3 CRL Distribution Points',
    encode: points,
  },
  freshestCRL: { id: '2.5.29.46', long: 'X509v3 Freshest CRL', encode: points },
  authorityInfoAccess: {
    id: '1.3.6.1.5.5.7.1.1',
    long: 'Authority Information Access',
    encode: access,
  },
  certificatePolicies: { id: '2.5.29.32', long: 'X509v3 Certificate Policies', encode: policies },
  tlsfeature: { id: '1.3.6.1.5.5.7.1.24', encode: features },
  inhibitAnyPolicy: { id: '2.5.29.54', long: 'X509v3 Inhibit Any Policy', encode: inhibited },
  policyConstraints: { id: '2.5.29.36', long: 'X509v3 Policy Constraints', encode: policyLimits },
  nameConstraints: { id: '2.5.29.30', long: 'X509v3 Name Constraints', encode: nameLimits },
  noCheck: { id: '1.3.6.1.5.5.7.48.1.5', encode: () => nothing },
  nsComment: {
    id: '2.16.840.1.113730.1.13',
    long: 'Netscape Comment',
    encode: words => ia5(words.join(', ')),
  },
};

/** Extensions that lists of revoked certificates alone have (`x509-crl-extensions.ts`). */
export const listKinds = {
  cRLNumber: { id: '2.5.29.20', long: 'X509v3 CRL Number' },
  deltaCRLIndicator: { id: '2.5.29.27', long: 'X509v3 Delta CRL Indicator' },
  issuingDistributionPoint: { id: '2.5.29.28', long: 'X509v3 Issuing Distribution Point' },
} as const;

/** Extensions of openssl's that are not written here: refused by name. */
export const refusedExtensions: readonly string[] = ['nsCertType'];

const nameOf = (given: string): string | undefined =>
  Object.hasOwn(kinds, given)
    ? given
    : Object.keys(kinds).find(name => getOwn(kinds, name)?.long === given);

/** Names that a keyword may have for an extension. */
export const isExtension = (name: string): boolean =>
  nameOf(name) !== undefined || refusedExtensions.includes(name);

/** Short name of an extension's id, for people. */
export const extensionName = (id: string): string => {
  const all: Record<string, Pick<Kind, 'id' | 'long'>> = { ...kinds, ...listKinds };
  const found = Object.entries(all).find(([, kind]) => kind.id === id);
  return found?.[1].long ?? found?.[0] ?? id;
};

/**
 * The extensions that keywords name. A text is openssl's (`critical CA:true, pathlen:0`), a list
 * its words, a mapping `{critical: true, ca: true}`.
 */
export const extensionsOf = (
  keywords: Readonly<Record<string, unknown>>,
  context: ExtensionContext,
): Extension[] =>
  Object.entries(keywords).flatMap(([given, value]) => {
    const name = nameOf(given);
    const kind = name === undefined ? undefined : getOwn(kinds, name);
    if (name === undefined || !kind || value === null || value === undefined) return [];
    const words = wordsOf(value);
    const critical = words.includes('critical');
    const rest = words.filter(word => word !== 'critical');
    return [{ id: kind.id, critical, value: kind.encode(rest, context, name) }];
  });

const wordsOf = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) =>
      key === 'critical'
        ? item === true
          ? ['critical']
          : []
        : Array.isArray(item)
          ? item.map(each => `${key};${String(each)}`)
          : [`${key}:${String(item)}`],
    );
  const text = String(value).trim();
  const rest = text.replace(/^critical\b[\s,]*/, '');
  return [
    ...(rest === text ? [] : ['critical']),
    ...rest
      .split(',')
      .map(word => word.trim())
      .filter(word => word !== ''),
  ];
};

export const encodeExtensions = (extensions: readonly Extension[]): Buffer =>
  sequence(
    ...extensions.map(({ id, critical, value }) =>
      sequence(oid(id), ...(critical ? [truth(true)] : []), tagged(0x04, value)),
    ),
  );
