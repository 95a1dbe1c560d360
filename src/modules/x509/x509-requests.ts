import type { KeyObject } from 'node:crypto';
import { messageOf } from '../../protocol/error.ts';
import { CommandExecutionError } from '../api.ts';
import {
  bits,
  enumerated,
  explicit,
  integer,
  integerOf,
  octets,
  oid,
  oidText,
  readDer,
  sequence,
  setOf,
  tagged,
  time,
  timeOf,
} from './der.ts';
import { derOf } from './pem.ts';
import { algorithmId, type Certificate, partsOf, readExtensions } from './x509-certificate.ts';
import { type Extension, encodeExtensions, keyIdOf, listKinds } from './x509-extensions.ts';
import { signerOf, spkiOf } from './x509-keys.ts';

type Signed = Pick<Certificate, 'der' | 'signed' | 'signature' | 'algorithm'>;

/** A certificate signing request as it was read. */
export type SigningRequest = Signed & {
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly extensions: readonly Extension[];
};

const extensionRequest = '1.2.840.113549.1.9.14';

export const buildRequest = (
  subject: Buffer,
  extensions: readonly Extension[],
  key: KeyObject,
  digest: string,
): Buffer => {
  const signer = signerOf(key, digest);
  const wanted = sequence(oid(extensionRequest), setOf(encodeExtensions(extensions)));
  const body = sequence(
    integer(0),
    subject,
    spkiOf(key),
    extensions.length > 0 ? explicit(0, wanted) : explicit(0),
  );
  return sequence(body, signer.algorithm, bits(signer.sign(body)));
};

/** Reads a request: PEM, or a file with PEM or DER. */
export const readRequest = (given: string): SigningRequest => {
  const der = derOf(given, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST');
  try {
    const [body, algorithm, signature] = partsOf(readDer(der));
    const [, subject, publicKey, attributes] = body.children;
    if (!subject || !publicKey) throw new Error('a part of it is missing');
    const wanted = attributes?.children.find(
      ({ children: [id] }) => id !== undefined && oidText(id) === extensionRequest,
    );
    return {
      der,
      subject: subject.raw,
      publicKey: publicKey.raw,
      extensions: readExtensions(wanted?.children[1]?.children[0]),
      algorithm: algorithmId(algorithm),
      signed: body.raw,
      signature: signature.body.subarray(1),
    };
  } catch (error) {
    throw new CommandExecutionError(
      `The certificate signing request cannot be read: ${messageOf(error)}`,
    );
  }
};

/** RFC 5280's reasons, by their names in openssl and in Salt. */
export const reasons: Readonly<Record<string, number>> = {
  unspecified: 0,
  keyCompromise: 1,
  CACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCRL: 8,
  privilegeWithdrawn: 9,
  aACompromise: 10,
};

export type Revoked = { readonly serial: bigint; readonly date: Date; readonly reason?: number };

export type RevocationList = Signed & {
  readonly issuer: Buffer;
  readonly from: Date;
  readonly until: Date;
  readonly revoked: readonly Revoked[];
  readonly extensions: readonly Extension[];
};

const reasonId = '2.5.29.21';
const authorityId = '2.5.29.35';

export const buildRevocationList = (
  {
    issuer,
    from,
    until,
    revoked,
    number,
    extensions,
  }: Pick<RevocationList, 'issuer' | 'from' | 'until' | 'revoked' | 'extensions'> & {
    readonly number: bigint;
  },
  key: KeyObject,
  digest: string,
): Buffer => {
  const signer = signerOf(key, digest);
  const entries = revoked.map(({ serial, date, reason }) =>
    sequence(
      integer(serial),
      time(date),
      ...(reason === undefined
        ? []
        : [sequence(sequence(oid(reasonId), octets(enumerated(reason))))]),
    ),
  );
  // RFC 5280 asks for both in every list.
  const usual: Extension[] = [
    { id: authorityId, critical: false, value: sequence(tagged(0x80, keyIdOf(spkiOf(key)))) },
    { id: listKinds.cRLNumber.id, critical: false, value: integer(number) },
  ];
  const named = new Set(extensions.map(({ id }) => id));
  const body = sequence(
    integer(1),
    signer.algorithm,
    issuer,
    time(from),
    time(until),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    explicit(0, encodeExtensions([...usual.filter(({ id }) => !named.has(id)), ...extensions])),
  );
  return sequence(body, signer.algorithm, bits(signer.sign(body)));
};

/** Reads a revocation list: PEM, or a file with PEM or DER. */
export const readRevocationList = (given: string): RevocationList => {
  const der = derOf(given, 'X509 CRL');
  try {
    const [body, algorithm, signature] = partsOf(readDer(der));
    const fields = body.children[0]?.tag === 0x02 ? body.children.slice(1) : body.children;
    const [, issuer, from, until, list] = fields;
    if (!issuer || !from || !until) throw new Error('a part of it is missing');
    return {
      der,
      issuer: issuer.raw,
      from: timeOf(from),
      until: timeOf(until),
      revoked: list?.tag === 0x30 ? list.children.flatMap(readRevoked) : [],
      extensions: readExtensions(fields.find(({ tag }) => tag === 0xa0)?.children[0]),
      algorithm: algorithmId(algorithm),
      signed: body.raw,
      signature: signature.body.subarray(1),
    };
  } catch (error) {
    throw new CommandExecutionError(
      `The certificate revocation list cannot be read: ${messageOf(error)}`,
    );
  }
};

const readRevoked = ({
  children: [serial, date, extensions],
}: ReturnType<typeof readDer>): Revoked[] => {
  if (!serial || !date) return [];
  const reason = readExtensions(extensions).find(({ id }) => id === reasonId);
  return [
    {
      serial: integerOf(serial),
      date: timeOf(date),
      ...(reason ? { reason: readDer(reason.value).body[0] ?? 0 } : {}),
    },
  ];
};
