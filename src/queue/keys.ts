import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../bundle/private-dir.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';

/** The keys of a control node or worker: one for signing, one for decryption. */
export type QueueKeys = {
  /** The secret key of age, `AGE-SECRET-KEY-1…`. */
  readonly identity: string;
  /** The Ed25519 key. */
  readonly signing: KeyObject;
  /** The public halves. */
  readonly publicKey: PublicKey;
};

/** The public keys of a control node or of a worker. */
export type PublicKey = {
  /** A recipient of age, `age1…`. */
  readonly recipient: string;
  /** The Ed25519 key, DER in base64. */
  readonly verifying: string;
};

const fileName = 'queue-keys.json';

/**
 * Reads the keys of a folder, or makes them if there are none.
 *
 * @throws TsaltError `queue-keys`, `cache-dir`, `untrusted`
 */
export const openKeys = async (folder: string): Promise<QueueKeys> => {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const path = join(privateDir(folder), fileName);
  if (!existsSync(path)) {
    const identity = await generateX25519Identity();
    const { privateKey } = generateKeyPairSync('ed25519');
    const signing = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writePrivate(path, `${JSON.stringify({ identity, signing }, null, 2)}\n`);
  }
  checkTrusted(path, 'The file of keys');
  try {
    const { identity, signing: pem } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly identity: string;
      readonly signing: string;
    };
    const signing = createPrivateKey(pem);
    const verifying = createPublicKey(signing)
      .export({ type: 'spki', format: 'der' })
      .toString('base64');
    const recipient = await identityToRecipient(identity);
    return { identity, signing, publicKey: { recipient, verifying } };
  } catch (cause) {
    // The cause may quote the file.
    throw new TsaltError('queue-keys', `The keys in ${path} cannot be read.`, {
      hint: `Remove the file to have new ones made. ${cause instanceof SyntaxError ? 'It is not JSON.' : ''}`.trim(),
    });
  }
};

/** The public key on one line, for a configuration. */
export const publicKeyText = ({ recipient, verifying }: PublicKey): string =>
  `${recipient}:${verifying}`;

/** The short name of a worker: the beginning of a hash of its public key. */
export const workerId = (key: PublicKey): string =>
  createHash('sha256').update(publicKeyText(key)).digest('hex').slice(0, 16);

/**
 * Reads the public key of such a line.
 *
 * @param where the name of the option, for messages
 * @throws TsaltError `queue-key`
 */
export const parseKey = (text: string, where: string): PublicKey => {
  const [, recipient = '', verifying = ''] =
    /^(age1[a-z0-9]{58}):([A-Za-z0-9+/]{59}=)$/.exec(text.trim()) ?? [];
  try {
    if (recipient === '') throw new Error('it has another form');
    verifyingKey(verifying);
    return { recipient, verifying };
  } catch (cause) {
    throw new TsaltError(
      'queue-key',
      `${where}: '${text.slice(0, 100)}' is not a key: ${messageOf(cause)}.`,
      {
        hint: 'tsalt-ssh worker key prints that of a worker, tsalt-ssh workers key that of a control node.',
        cause,
      },
    );
  }
};

const verifyingKey = (verifying: string): KeyObject =>
  createPublicKey({ key: Buffer.from(verifying, 'base64'), format: 'der', type: 'spki' });

/** Signs bytes. @returns the signature in base64 */
export const signed = (bytes: Uint8Array, signing: KeyObject): string =>
  sign(null, bytes, signing).toString('base64');

/** Whether a signature is that of these bytes by one of these keys. */
export const isSigned = (
  bytes: Uint8Array,
  signature: string,
  keys: readonly PublicKey[],
): boolean =>
  keys.some(({ verifying }) =>
    verify(null, bytes, verifyingKey(verifying), Buffer.from(signature, 'base64')),
  );
