import { join } from 'node:path';
import { replaceFile } from '../../../_shared/files/write-file.ts';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
} from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import {
  type GpgResult,
  type GpgWhere,
  neededPassphrase,
  runGpg,
  withGpgFolder,
} from '../../gpg-run.ts';

const inputOf = (text: string | null, filename: string | null): string | Buffer => {
  if (text) return text;
  if (!filename) throw new SaltInvocationError('filename or text must be passed.');
  try {
    return readFileSync(filename);
  } catch (error) {
    throw new CommandExecutionError(`Cannot read ${filename}: ${(error as Error).message}`);
  }
};

/** Runs gpg, its output to a file where one is wanted: it may be any bytes, and gpg's account may not write there. */
const runTo = async (
  output: string | null,
  mode: number,
  args: readonly string[],
  where: GpgWhere,
  given: { input: string | Uint8Array; passphrase: string | undefined },
): Promise<GpgResult> => {
  if (!output) return await runGpg(args, where, given);
  return await withGpgFolder(where, {}, async folder => {
    const made = join(folder, 'output');
    const answer = await runGpg(['--output', made, ...args], where, given);
    if (existsSync(made)) await replaceFile(output, readOwn(made), mode);
    return answer;
  });
};

/**
 * Reads a file without following links: the folder belongs to the account, which could link to files
 * that it may not read.
 */
const readOwn = (path: string): Buffer => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
};

/**
 * Signs a text or a file and returns the clear text with its signature.
 *
 * @param user the account whose keys are used
 * @param keyid the key; the first secret one when not given
 * @param text the text
 * @param filename a file instead
 * @param output the file to write a signed file to
 * @param use_passphrase true: the key is protected by the pillar's `gpg_passphrase`
 * @param gnupghome the folder of the keys
 * @example tsalt-ssh '*' gpg.sign text='Hello there. How are you?'
 */
export const sign = async (
  user: string | null = null,
  keyid: string | null = null,
  text: string | null = null,
  filename: string | null = null,
  output: string | null = null,
  use_passphrase = false,
  gnupghome: string | null = null,
): Promise<string> => {
  const passphrase = await neededPassphrase(use_passphrase);
  const key = keyid ? ['--default-key', keyid] : [];
  const answer = await runGpg(
    ['--sign', '--armor', '--clearsign', ...key],
    { user, gnupghome },
    { input: inputOf(text, filename), passphrase },
  );
  if (!answer.status.some(([word]) => word === 'SIG_CREATED'))
    throw new CommandExecutionError(`gpg could not sign: ${answer.words}`);
  if (!text && output) await replaceFile(output, answer.stdout);
  return answer.stdout;
};

const trustModels = ['pgp', 'classic', 'tofu', 'tofu+pgp', 'direct', 'always', 'auto'];
const verifyLevels: Readonly<Record<string, string>> = {
  TRUST_UNDEFINED: 'Undefined',
  TRUST_NEVER: 'Never',
  TRUST_MARGINAL: 'Marginal',
  TRUST_FULLY: 'Fully',
  TRUST_ULTIMATE: 'Ultimate',
};
const badSignature = new Set(['BADSIG', 'ERRSIG', 'EXPSIG', 'EXPKEYSIG', 'REVKEYSIG']);

type Verified = {
  res: boolean;
  username?: string;
  key_id?: string;
  trust_level?: string;
  message: string;
};

/**
 * Verifies the signature of a text or a file: `{res, username, key_id, trust_level, message}`. A
 * signature fails if it is expired, or if its key is expired or revoked.
 *
 * @param text the text
 * @param user the account whose keys are used
 * @param filename a file instead
 * @param gnupghome the folder of the keys
 * @param signature a file with the signature of that file
 * @param trustmodel `pgp`, `classic`, `tofu`, `tofu+pgp`, `direct`, `always` or `auto`
 * @example tsalt-ssh '*' gpg.verify filename=/path/to/important.file
 */
export const verify = async (
  text: string | null = null,
  user: string | null = null,
  filename: string | null = null,
  gnupghome: string | null = null,
  signature: string | null = null,
  trustmodel: string | null = null,
): Promise<Verified> => {
  if (trustmodel && !trustModels.includes(trustmodel))
    return {
      res: false,
      message: `Invalid trustmodel defined: ${trustmodel}. Use one of: ${trustModels.join(', ')}`,
    };
  const where = { user, gnupghome };
  const args = ['--verify', ...(trustmodel ? ['--trust-model', trustmodel] : [])];
  const input = inputOf(text, filename);
  const { status } =
    !text && signature
      ? await withGpgFolder(where, { signature: Buffer.from(inputOf(null, signature)) }, folder =>
          runGpg([...args, join(folder, 'signature'), '-'], where, { input }),
        )
      : await runGpg(args, where, { input });
  const level = status.findLast(([key]) => Object.hasOwn(verifyLevels, key))?.[0];
  const good = status.findLast(([key]) => key === 'GOODSIG')?.[1];
  if (!level || good === undefined || status.some(([key]) => badSignature.has(key)))
    return { res: false, message: 'The signature could not be verified.' };
  const space = good.indexOf(' ');
  return {
    res: true,
    username: good.slice(space + 1),
    key_id: good.slice(0, space),
    trust_level: verifyLevels[level] ?? '',
    message: 'The signature is verified.',
  };
};

/** Messages of Salt's gpg library for the status keywords that report an outcome. */
const outcomes: Readonly<Record<string, string>> = {
  NODATA: 'no data was provided',
  NEED_PASSPHRASE: 'need passphrase',
  BAD_PASSPHRASE: 'bad passphrase',
  MISSING_PASSPHRASE: 'missing passphrase',
  NEED_PASSPHRASE_SYM: 'need symmetric passphrase',
  INV_RECP: 'invalid recipient',
  INV_SGNR: 'invalid signer',
  KEYEXPIRED: 'key expired',
  NO_SECKEY: 'no secret key',
  DECRYPTION_FAILED: 'decryption failed',
};

const outcomeOf = ({ status, words }: GpgResult): string => {
  const said = status.flatMap(([key]) => outcomes[key] ?? []);
  const last = said.includes('no secret key') ? 'no secret key' : said.at(-1);
  return `${last ?? 'gpg failed'}.\n${words}`.trim();
};

type Done = string | false | { res: boolean; comment: string };

const answerOf = (
  answer: GpgResult,
  sign: string,
  { kind, output, bare }: { kind: string; output: string | null; bare: boolean },
): Done => {
  if (!answer.status.some(([key]) => key === sign))
    return bare ? false : { res: false, comment: outcomeOf(answer) };
  if (bare) return answer.stdout;
  const comment = output ? `${kind} data has been written to ${output}` : answer.stdout;
  return { res: true, comment };
};

/**
 * Encrypts a text or a file, armored: `{res, comment}`.
 *
 * @param user the account whose keys are used
 * @param recipients for whom, as gpg knows them (ids, fingerprints, addresses)
 * @param text the text
 * @param filename a file instead
 * @param output a file for it
 * @param sign true: it is signed too; or the key to sign with
 * @param use_passphrase true: the key to sign with is protected by the pillar's `gpg_passphrase`
 * @param always_trust true: accept untrusted keys of recipients
 * @param gnupghome the folder of the keys
 * @param bare true: the text alone, or false
 * @example tsalt-ssh '*' gpg.encrypt text='Hello there.' recipients=recipient@example.com
 */
export const encrypt = async (
  user: string | null = null,
  recipients: string | string[] | null = null,
  text: string | null = null,
  filename: string | null = null,
  output: string | null = null,
  sign: string | boolean | null = null,
  use_passphrase = false,
  always_trust = false,
  gnupghome: string | null = null,
  bare = false,
): Promise<Done> => {
  const passphrase = await neededPassphrase(Boolean(sign) && use_passphrase);
  const input = inputOf(text, filename);
  const to = Array.isArray(recipients) ? recipients : recipients ? [recipients] : [];
  if (to.length === 0) throw new SaltInvocationError('gpg.encrypt needs recipients.');
  const signing = sign === true ? ['--sign'] : sign ? ['--sign', '--default-key', sign] : [];
  const answer = await runTo(
    output,
    0o644,
    [
      '--encrypt',
      ...to.flatMap(recipient => ['--recipient', String(recipient)]),
      '--armor',
      ...signing,
      ...(always_trust ? ['--always-trust'] : []),
    ],
    { user, gnupghome },
    { input, passphrase },
  );
  return answerOf(answer, 'END_ENCRYPTION', { kind: 'Encrypted', output, bare });
};

/**
 * Decrypts a text or a file: `{res, comment}`.
 *
 * @param user the account whose keys are used
 * @param text the text
 * @param filename a file instead
 * @param output a file for it; a new one is readable for its owner only
 * @param use_passphrase true: the key is protected by the pillar's `gpg_passphrase`
 * @param gnupghome the folder of the keys
 * @param bare true: the text alone, or false
 * @example tsalt-ssh '*' gpg.decrypt filename=/path/to/important.file.gpg
 */
export const decrypt = async (
  user: string | null = null,
  text: string | null = null,
  filename: string | null = null,
  output: string | null = null,
  use_passphrase = false,
  gnupghome: string | null = null,
  bare = false,
): Promise<Done> => {
  const passphrase = await neededPassphrase(use_passphrase);
  const input = inputOf(text, filename);
  const to = text ? null : output;
  const answer = await runTo(to, 0o600, ['--decrypt'], { user, gnupghome }, { input, passphrase });
  return answerOf(answer, 'DECRYPTION_OKAY', { kind: 'Decrypted', output: to, bare });
};
