import { isPlainDict } from '../protocol/plain.ts';
import { isSigned, type PublicKey, type QueueKeys, signed, workerId } from './keys.ts';

/**
 * The job of one host in the queue, for one of the workers that may take it. It contains the key for
 * asking the control node about the host: a worker that decrypts it knows nothing about the host
 * until the control node has granted the job.
 */
export type QueueJob = {
  /** The version of tsalt-ssh. */
  readonly version: string;
  readonly jid: string;
  /** The number of the host in the run. */
  readonly number: number;
  readonly segment: string;
  /** The worker that the job is for: another one that has opened it cannot pass it on. */
  readonly worker: string;
  /** The key of the messages between the run and this worker, base64. */
  readonly runKey: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
};

/** Signs a job, and encrypts it to the worker that it is for. */
export const sealJob = async (
  job: Omit<QueueJob, 'worker'>,
  keys: QueueKeys,
  worker: PublicKey,
): Promise<string> => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.addRecipient(worker.recipient);
  const body = JSON.stringify({ ...job, worker: workerId(worker) });
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
  if (job.worker !== workerId(keys.publicKey)) throw new Error('it is for another worker');
  if (job.expires < Date.now()) throw new Error('it has expired');
  return job;
};

/** The purpose is signed too, so that a signature of another message does not fit. */
const signedBytes = (body: string): Uint8Array => Buffer.from(`tsalt-ssh job\n${body}`, 'utf8');

const isJob = (job: unknown): job is QueueJob =>
  isPlainDict(job) &&
  ['version', 'jid', 'segment', 'worker', 'runKey'].every(key => typeof job[key] === 'string') &&
  /^\d{20}$/.test(String(job.jid)) &&
  Number.isSafeInteger(job.number) &&
  Number.isSafeInteger(job.expires);

/** One entry of a queue of jobs: the same job, for each worker that may take it. */
export type SealedJob = {
  /** Sealed jobs, by the short names of workers. */
  readonly sealed: Readonly<Record<string, string>>;
  /** How often workers that it is not for have put it back. */
  readonly returned?: number;
};

/** Reads what a queue of jobs holds; undefined for other data. */
export const sealedJobOf = (data: unknown): SealedJob | undefined => {
  const { sealed, returned = 0 } = (data ?? {}) as Partial<SealedJob>;
  const isRight = isPlainDict(sealed) && Number.isSafeInteger(returned);
  return isRight ? { sealed, returned } : undefined;
};
