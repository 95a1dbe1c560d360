import { isPlainDict } from '../protocol/plain.ts';
import { isSigned, type PublicKey, type QueueKeys, signed } from './keys.ts';

/**
 * The job of one host in the queue. It contains the key for asking the control node about the host:
 * a worker that decrypts it knows nothing about the host until the control node has granted the
 * job.
 */
export type QueueJob = {
  /** The version of tsalt-ssh. */
  readonly version: string;
  readonly jid: string;
  /** The number of the host in the run. */
  readonly number: number;
  readonly segment: string;
  /** The key of the messages between the run and the workers of the segment, base64. */
  readonly runKey: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
};

/** Signs a job, and encrypts it to the workers of its segment. */
export const sealJob = async (
  job: QueueJob,
  keys: QueueKeys,
  workers: readonly PublicKey[],
): Promise<string> => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const { recipient } of workers) encrypter.addRecipient(recipient);
  const body = JSON.stringify(job);
  const signature = signed(signedBytes(body), keys.signing);
  const sealed = await encrypter.encrypt(JSON.stringify({ body, signature }));
  return Buffer.from(sealed).toString('base64');
};

/**
 * Opens a job.
 *
 * @param controls the control nodes whose jobs the worker accepts
 * @throws Error if it is for another worker, from another control node, or too old
 */
export const openJob = async (
  sealed: string,
  keys: QueueKeys,
  controls: readonly PublicKey[],
): Promise<QueueJob> => {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(keys.identity);
  const text = await decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text');
  const { body, signature } = JSON.parse(text) as { body: unknown; signature: unknown };
  if (typeof body !== 'string' || typeof signature !== 'string') throw new Error('it has no job');
  if (!isSigned(signedBytes(body), signature, controls))
    throw new Error('no control node that this worker knows has signed it');
  const job: unknown = JSON.parse(body);
  if (!isJob(job)) throw new Error('it has no job');
  if (job.expires < Date.now()) throw new Error('it has expired');
  return job;
};

/** The purpose is signed too, so that a signature of another message does not fit. */
const signedBytes = (body: string): Uint8Array => Buffer.from(`tsalt-ssh job\n${body}`, 'utf8');

const isJob = (job: unknown): job is QueueJob =>
  isPlainDict(job) &&
  ['version', 'jid', 'segment', 'runKey'].every(key => typeof job[key] === 'string') &&
  /^\d{20}$/.test(String(job.jid)) &&
  Number.isSafeInteger(job.number) &&
  Number.isSafeInteger(job.expires);
