import type { Redis } from 'ioredis';
import { newKey, openBytes, sealBytes } from './cipher.ts';
import { type PublicKey, type QueueKeys, workerId } from './keys.ts';
import {
  hasTickets,
  isTicketsName,
  newTicketsName,
  openTicket,
  putTickets,
  removeTickets,
  sealTicket,
  type Ticket,
} from './tickets.ts';

/**
 * The job of one host in the queue, as a worker that may take it has opened it. It contains the key for
 * asking the control node about the host: the worker knows nothing about the host until the control
 * node has granted the job.
 */
export type QueueJob = Ticket & {
  /** The number of the host in the run. */
  readonly number: number;
};

/** One entry of a queue of jobs. */
export type SealedJob = {
  /** The name of the tickets of the workers that may take it. */
  readonly tickets: string;
  /** The number of the host, encrypted with the key that is in the tickets. */
  readonly sealed: string;
  /** How often workers that have no ticket have put it back. */
  readonly returned?: number;
};

/** The tickets of a segment's workers, as the control node knows them. */
type Batch = { readonly tickets: string; readonly jobKey: Buffer };

/** What a ticket has of the run. */
type About = Pick<Ticket, 'version' | 'jid' | 'segment' | 'expires'>;

/** Milliseconds before tickets expire at which new ones are made. */
const renewal = 12 * 3600_000;

/** The most tickets that a worker keeps. */
const mostTickets = 100;

/** Names what is encrypted, so that nothing else passes for it. */
const aboutOf = (tickets: string): string => `tsalt-ssh job ${tickets}`;

/**
 * Seals the jobs of one run. Signing and encrypting to a worker takes milliseconds of CPU, and a ticket
 * some hundred bytes, so it is done once for each worker. A job is small, however many workers may take
 * it.
 */
export class JobSealer {
  readonly #keys: QueueKeys;
  readonly #redis: Redis;
  readonly #batches = new Map<
    string,
    { readonly expires: number; readonly made: Promise<Batch> }
  >();
  readonly #names: string[] = [];

  constructor(keys: QueueKeys, redis: Redis) {
    this.#keys = keys;
    this.#redis = redis;
  }

  /**
   * Seals the job of a host, after the tickets of the workers are in Redis.
   *
   * @param workers those that may take it
   * @param keyFor returns the key of the messages between the run and a worker
   */
  async seal(
    job: About & Pick<QueueJob, 'number'>,
    workers: readonly PublicKey[],
    keyFor: (worker: string) => Buffer,
  ): Promise<SealedJob> {
    const { number, ...about } = job;
    const { tickets, jobKey } = await this.#batch(about, workers, keyFor);
    const sealed = sealBytes(Buffer.from(String(number)), jobKey, aboutOf(tickets));
    return { tickets, sealed: sealed.toString('base64') };
  }

  /** Has new tickets made for the next job of a segment if Redis has lost the others. */
  async check(segment: string): Promise<void> {
    const batch = this.#batches.get(segment);
    if (!batch) return;
    const { tickets } = await batch.made;
    if (await hasTickets(this.#redis, tickets)) return;
    if (this.#batches.get(segment) === batch) this.#batches.delete(segment);
  }

  /** Removes all tickets from Redis: jobs that are still in the queue cannot be opened any more. */
  async end(): Promise<void> {
    await removeTickets(this.#redis, this.#names);
  }

  #batch(
    about: About,
    workers: readonly PublicKey[],
    keyFor: (worker: string) => Buffer,
  ): Promise<Batch> {
    const { segment, expires } = about;
    const known = this.#batches.get(segment);
    if (known && known.expires + renewal > expires) return known.made;
    const made = this.#make(about, workers, keyFor);
    const batch = { expires, made };
    this.#batches.set(segment, batch);
    made.catch(() => {
      if (this.#batches.get(segment) === batch) this.#batches.delete(segment);
    });
    return made;
  }

  async #make(
    about: About,
    workers: readonly PublicKey[],
    keyFor: (worker: string) => Buffer,
  ): Promise<Batch> {
    const [tickets, jobKey] = [newTicketsName(), newKey()];
    const sealed = workers.map(async key => {
      const worker = workerId(key);
      const runKey = keyFor(worker).toString('base64');
      const ticket = { ...about, tickets, worker, runKey, jobKey: jobKey.toString('base64') };
      return [worker, await sealTicket(ticket, this.#keys, key)] as const;
    });
    this.#names.push(tickets);
    const all = Object.fromEntries(await Promise.all(sealed));
    await putTickets(this.#redis, tickets, all, about.expires);
    return { tickets, jobKey };
  }
}

/** Opens jobs that one worker may take. */
export class JobOpener {
  readonly #keys: QueueKeys;
  readonly #controls: readonly PublicKey[];
  readonly #read: (tickets: string, worker: string) => Promise<string | undefined>;
  readonly #tickets = new Map<string, Promise<Ticket | undefined>>();

  /**
   * @param controls the control nodes whose jobs the worker accepts
   * @param read reads a sealed ticket, once for all jobs that it is for; see `readTicket`
   */
  constructor(
    keys: QueueKeys,
    controls: readonly PublicKey[],
    read: (tickets: string, worker: string) => Promise<string | undefined>,
  ) {
    this.#keys = keys;
    this.#controls = controls;
    this.#read = read;
  }

  /**
   * Returns the job; undefined if it is for other workers.
   *
   * @throws Error if it is from another control node, changed, too old, or of a run that has ended
   */
  async open({ tickets, sealed }: SealedJob): Promise<QueueJob | undefined> {
    const ticket = await this.#ticket(tickets);
    if (!ticket) return undefined;
    if (ticket.expires < Date.now()) throw new Error('it has expired');
    const key = Buffer.from(ticket.jobKey, 'base64');
    const bytes = openBytes(Buffer.from(sealed, 'base64'), key, aboutOf(tickets));
    const number = Number(bytes.toString());
    // Any worker of the segment has the key of the jobs.
    if (!Number.isSafeInteger(number)) throw new Error('it has no number');
    return { ...ticket, number };
  }

  /** Jobs that come at the same time share one request. */
  #ticket(name: string): Promise<Ticket | undefined> {
    const ticket = this.#tickets.get(name) ?? this.#readTicket(name);
    this.#tickets.delete(name);
    this.#tickets.set(name, ticket);
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size > mostTickets && oldest !== undefined) this.#tickets.delete(oldest);
    return ticket;
  }

  #readTicket(name: string): Promise<Ticket | undefined> {
    const read = async (): Promise<Ticket | undefined> => {
      const sealed = await this.#read(name, workerId(this.#keys.publicKey));
      return sealed === undefined
        ? undefined
        : openTicket(sealed, name, this.#keys, this.#controls);
    };
    const ticket = read();
    const forget = (): void => {
      if (this.#tickets.get(name) === ticket) this.#tickets.delete(name);
    };
    // A job without a ticket may be put into the queue by anybody: it takes no place of another one.
    ticket.then(found => found ?? forget(), forget);
    return ticket;
  }
}

/** Reads what a queue of jobs holds; undefined for other data. */
export const sealedJobOf = (data: unknown): SealedJob | undefined => {
  const { tickets, sealed, returned = 0 } = (data ?? {}) as Partial<SealedJob>;
  const isRight =
    isTicketsName(tickets) && typeof sealed === 'string' && Number.isSafeInteger(returned);
  return isRight ? { tickets, sealed, returned } : undefined;
};
