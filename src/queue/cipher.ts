import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** Makes a key for AES-256. */
export const newKey = (): Buffer => randomBytes(32);

/**
 * Encrypts and authenticates bytes (AES-256-GCM, NIST SP 800-38D).
 *
 * @param about names the bytes: they can be decrypted only with the same name
 * @returns nonce, tag and text
 */
export const sealBytes = (bytes: Uint8Array, key: Uint8Array, about: string): Buffer => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(about, 'utf8'));
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
};

/** @throws Error if the bytes were changed, or encrypted with another name */
export const openBytes = (sealed: Uint8Array, key: Uint8Array, about: string): Buffer => {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(about, 'utf8'));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
};

/** Returns a name for a content that only holders of the key can compute. */
export const keyedName = (key: Uint8Array, content: string): string =>
  createHmac('sha256', key).update(content).digest('hex');
