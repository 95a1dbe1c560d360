import { isPlainDict } from '../protocol/plain.ts';
import { openBytes, sealBytes } from './cipher.ts';
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

/** What the jobs of a run have in common for one worker: signed and encrypted once. */
type Ticket = Omit<QueueJob, 'number'>;

/** Milliseconds before a ticket expires at which a new one is made. */
const renewal = 12 * 3600_000;

/** The most tickets that a worker keeps. */
const mostTickets = 100;

/**
 * Seals the jobs of one run. Signing and encrypting to a worker takes milliseconds of CPU, so it is
 * done once for each worker; the number of each host is encrypted with the run's key of that worker.
 */
export class JobSealer {
  readonly #keys: QueueKeys;
  readonly #tickets = new Map<
    string,
    { readonly expires: number; readonly sealed: Promise<string> }
  >();

  constructor(keys: QueueKeys) {
    this.#keys = keys;
  }

  /** Seals a job to each of these workers, with the key that the run has for it. */
  async sealAll(
    job: Omit<QueueJob, 'worker' | 'runKey'>,
    workers: readonly PublicKey[],
    keyFor: (worker: string) => Buffer,
  ): Promise<SealedJob> {
    const sealed = workers.map(async worker => {
      const name = workerId(worker);
      const runKey = keyFor(name).toString('base64');
      return [name, await this.seal({ ...job, runKey }, worker)] as const;
    });
    return { sealed: Object.fromEntries(await Promise.all(sealed)) };
  }

  /** Signs a job, and encrypts it to the worker that it is for. */
  async seal({ number, ...about }: Omit<QueueJob, 'worker'>, worker: PublicKey): Promise<string> {
    const ticket = { ...about, worker: workerId(worker) };
    const known = this.#tickets.get(ticket.worker);
    const made =
      known && known.expires + renewal > ticket.expires
        ? known
        : { expires: ticket.expires, sealed: sealTicket(ticket, this.#keys, worker) };
    this.#tickets.set(ticket.worker, made);
    const sealed = sealBytes(Buffer.from(String(number)), keyOf(ticket), numberOf(ticket));
    return `${await made.sealed}.${sealed.toString('base64')}`;
  }
}

const keyOf = ({ runKey }: Ticket): Buffer => Buffer.from(runKey, 'base64');

/** Names what is encrypted, so that nothing else that has this key passes for it. */
const numberOf = ({ jid, worker }: Ticket): string => `tsalt-ssh job ${jid} ${worker}`;

const sealTicket = async (ticket: Ticket, keys: QueueKeys, worker: PublicKey): Promise<string> => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.addRecipient(worker.recipient);
  const body = JSON.stringify(ticket);
  const signature = signed(signedBytes(body), keys.signing);
  const sealed = await encrypter.encrypt(JSON.stringify({ body, signature }));
  return Buffer.from(sealed).toString('base64');
};

/** Opens jobs that are for one worker. */
export class JobOpener {
  readonly #keys: QueueKeys;
  readonly #controls: readonly PublicKey[];
  readonly #tickets = new Map<string, Ticket>();

  /** @param controls the control nodes whose jobs the worker accepts */
  constructor(keys: QueueKeys, controls: readonly PublicKey[]) {
    this.#keys = keys;
    this.#controls = controls;
  }

  /** @throws Error if a job is for another worker, from another control node, changed, or too old */
  async open(job: string): Promise<QueueJob> {
    const [sealed = '', number = ''] = job.split('.');
    const ticket =
      this.#tickets.get(sealed) ?? (await openTicket(sealed, this.#keys, this.#controls));
    if (ticket.expires < Date.now()) throw new Error('it has expired');
    const bytes = openBytes(Buffer.from(number, 'base64'), keyOf(ticket), numberOf(ticket));
    this.#keep(sealed, ticket);
    return { ...ticket, number: Number(bytes.toString()) };
  }

  #keep(sealed: string, ticket: Ticket): void {
    this.#tickets.delete(sealed);
    this.#tickets.set(sealed, ticket);
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size > mostTickets && oldest !== undefined) this.#tickets.delete(oldest);
  }
}

const openTicket = async (
  sealed: string,
  keys: QueueKeys,
  controls: readonly PublicKey[],
): Promise<Ticket> => {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(keys.identity);
  const text = await decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text');
  const { body, signature } = JSON.parse(text) as { body: unknown; signature: unknown };
  if (typeof body !== 'string' || typeof signature !== 'string') throw new Error('it has no job');
  if (!isSigned(signedBytes(body), signature, controls))
    throw new Error('no control node that this worker knows has signed it');
  const ticket: unknown = JSON.parse(body);
  if (!isTicket(ticket)) throw new Error('it has no job');
  if (ticket.worker !== workerId(keys.publicKey)) throw new Error('it is for another worker');
  return ticket;
};

/** The purpose is signed too, so that a signature of another message does not fit. */
const signedBytes = (body: string): Uint8Array => Buffer.from(`tsalt-ssh job\n${body}`, 'utf8');

const isTicket = (job: unknown): job is Ticket =>
  isPlainDict(job) &&
  ['version', 'jid', 'segment', 'worker', 'runKey'].every(key => typeof job[key] === 'string') &&
  /^\d{20}$/.test(String(job.jid)) &&
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
