import { readFile } from 'node:fs/promises';
import type { Data, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { decryptAll, type IsHostString } from './secrets.ts';
import type { Stage } from './types.ts';

const marked = 'AGE ENCRYPTED FILE';

/**
 * Decrypts every armored age file in text or data. The identities are the lines
 * `AGE-SECRET-KEY-…` of the file that `age_identity_file` (option, or TSALT_AGE_IDENTITY)
 * names; they never leave the control node.
 */
export const renderAge = (data: Data, { request }: Stage): Promise<Data> =>
  decryptAge(data, request.context.opts, request.file, request.context.said);

/** Decrypts data of any origin; `file` is named if something cannot be decrypted. */
export const decryptAge = async (
  data: Data,
  opts: Dict,
  file: string,
  said?: IsHostString,
): Promise<Data> => {
  const option = opts.get('age_identity_file');
  const path = typeof option === 'string' ? option : process.env.TSALT_AGE_IDENTITY;
  let identities: Promise<string[]> | undefined;
  const decryptBlock = async (block: string): Promise<string> => {
    identities ??= readIdentities(path, file);
    return decrypt(block, await identities, file);
  };
  return decryptAll(data, marked, decryptBlock, said);
};

const decrypt = async (
  block: string,
  identities: readonly string[],
  file: string,
): Promise<string> => {
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
    const text = block.replaceAll('\\n', '\n').replace(/^[ \t]+/gm, '');
    return await decrypter.decrypt(armor.decode(text), 'text');
  } catch (error) {
    throw fault('age-failed', `age: ${(error as Error).message}`, file);
  }
};

const readIdentities = async (path: string | undefined, file: string): Promise<string[]> => {
  if (path === undefined)
    throw fault(
      'age-no-identity',
      'age: no identity is configured',
      file,
      'Set age_identity_file.',
    );
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw fault('age-no-identity', `age: the identity file cannot be read: ${error.message}`, file);
  });
  const keys = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.startsWith('AGE-SECRET-KEY-'));
  if (keys.length === 0)
    throw fault('age-no-identity', `age: ${path} holds no AGE-SECRET-KEY line`, file);
  return keys;
};

const fault = (code: string, message: string, file: string, hint?: string): TsaltError =>
  new TsaltError(code, message, { kind: 'render', at: { file }, hint });
