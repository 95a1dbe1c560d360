import { readFileSync, statSync } from 'node:fs';
import { writePrivate } from '../bundle/private-dir.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { stringify } from '../protocol/exact-json.ts';
import { checkTrusted } from '../trust/check.ts';
import { type Plan, planVersion } from './plan.ts';
import { parsePlan, planFormat } from './read-plan.ts';

/** Bytes of a plan file. */
const largest = 256 * 1024 * 1024;

const encryptedHeader = 'age-encryption.org/v1\n';
const armorHeader = '-----BEGIN AGE ENCRYPTED FILE-----';

/**
 * Writes a plan to a private file, whole or not at all; encrypted where recipients are given.
 *
 * @throws TsaltError `plan-file`, `plan-recipient`
 */
export const writePlan = async (
  path: string,
  plan: Plan,
  recipients: readonly string[],
): Promise<void> => {
  const { text, marked } = stringify(plan);
  const whole = `{"format":${JSON.stringify(planFormat)},"version":${planVersion},"exact":${marked},"plan":${text}}\n`;
  if (whole.length > largest)
    throw fileError(path, 'written', `it would have more than ${largest} bytes`);
  const content = recipients.length === 0 ? whole : await encrypted(whole, recipients);
  await writePrivate(path, content).catch((error: unknown) => {
    throw fileError(path, 'written', messageOf(error), error);
  });
};

/**
 * Checks recipients before a run.
 *
 * @throws TsaltError `plan-recipient`
 */
export const checkRecipients = async (recipients: readonly string[]): Promise<void> => {
  if (recipients.length > 0) await encrypted('', recipients);
};

const encrypted = async (text: string, recipients: readonly string[]): Promise<Uint8Array> => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients)
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new TsaltError(
        'plan-recipient',
        `'${recipient}' is not a recipient of age: ${messageOf(cause)}.`,
        { hint: 'It begins with age1; `age-keygen -y FILE` prints that of a key.', cause },
      );
    }
  return encrypter.encrypt(text);
};

/**
 * Reads a plan from a file that no other user could write.
 *
 * @param identity the file with the key of an encrypted plan
 * @throws TsaltError `plan-file`, `plan-identity`, `plan-malformed`, `plan-version`, `untrusted`
 */
export const readPlan = async (path: string, identity: string | undefined): Promise<Plan> => {
  checkTrusted(path, 'The plan');
  const bytes = readBytes(path);
  const start = bytes.subarray(0, 100).toString('latin1');
  if (!start.startsWith(encryptedHeader) && !start.startsWith(armorHeader))
    return parsePlan(bytes.toString('utf8'));
  return parsePlan(await decrypted(path, bytes, identity));
};

const readBytes = (path: string): Buffer => {
  try {
    const { size } = statSync(path);
    if (size > largest) throw new Error(`it has more than ${largest} bytes`);
    return readFileSync(path);
  } catch (error) {
    throw fileError(path, 'read', messageOf(error), error);
  }
};

const decrypted = async (
  path: string,
  bytes: Buffer,
  identity: string | undefined,
): Promise<string> => {
  if (identity === undefined)
    throw new TsaltError('plan-identity', `The plan ${path} is encrypted.`, {
      hint: 'Name the file with the key of age: --identity FILE.',
    });
  checkTrusted(identity, 'The identity file');
  const keys = readBytes(identity)
    .toString('utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.startsWith('AGE-SECRET-KEY-'));
  if (keys.length === 0)
    throw new TsaltError('plan-identity', `${identity} has no line AGE-SECRET-KEY-….`);
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    for (const key of keys) decrypter.addIdentity(key);
    const isArmored = bytes.toString('latin1', 0, armorHeader.length) === armorHeader;
    return await decrypter.decrypt(
      isArmored ? armor.decode(bytes.toString('latin1')) : bytes,
      'text',
    );
  } catch (error) {
    throw new TsaltError(
      'plan-identity',
      `The plan ${path} cannot be decrypted: ${messageOf(error)}.`,
      {
        kind: 'render',
        hint: 'It was cut off, changed, or encrypted to another key.',
      },
    );
  }
};

const fileError = (
  path: string,
  done: 'read' | 'written',
  why: string,
  cause?: unknown,
): TsaltError =>
  new TsaltError('plan-file', `The plan ${path} cannot be ${done}: ${why}.`, { cause });
