import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { isPlainDict } from '../protocol/plain.ts';
import { isSigned, type PublicKey, type QueueKeys, signed, workerId } from './keys.ts';
import { prefix } from './names.ts';

/**
 * What the jobs of a run have in common for one worker of their segment. It is signed, encrypted to
 * the worker, and read by it once.
 */
export type Ticket = {
  /** The version of tsalt-ssh. */
  readonly version: string;
  readonly jid: string;
  readonly segment: string;
  /** The name of the tickets that it was made with: it cannot be read under another one. */
  readonly tickets: string;
  /** The worker that it is for: another one that has opened it cannot pass it on. */
  readonly worker: string;
  /** The key of the messages between the run and this worker, base64. */
  readonly runKey: string;
  /** The key of the jobs, base64. The workers that may take them share it. */
  readonly jobKey: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
};

const keyOf = (name: string): string => `${prefix}:tickets-${name}`;

/** Makes a name for tickets that reveals nothing about the run. */
export const newTicketsName = (): string => randomBytes(16).toString('hex');

/** Whether a text can be the name of tickets. */
export const isTicketsName = (name: unknown): name is string =>
  typeof name === 'string' && /^[0-9a-f]{32}$/.test(name);

/**
 * Stores tickets in Redis until they expire, those of all workers in one request.
 *
 * @param sealed sealed tickets, by the short names of workers
 */
export const putTickets = async (
  redis: Redis,
  name: string,
  sealed: Readonly<Record<string, string>>,
  expires: number,
): Promise<void> => {
  const lifetime = Math.max(expires - Date.now(), 1);
  // One transaction: tickets of a control node that is killed in between would stay forever.
  await redis.multi().hset(keyOf(name), sealed).pexpire(keyOf(name), lifetime).exec();
};

/** Whether there are tickets with this name. */
export const hasTickets = async (redis: Pick<Redis, 'exists'>, name: string): Promise<boolean> =>
  (await redis.exists(keyOf(name))) > 0;

/** Removes the tickets of a run that has ended. */
export const removeTickets = async (redis: Redis, names: readonly string[]): Promise<void> => {
  if (names.length > 0) await redis.del(names.map(keyOf));
};

/**
 * Returns the sealed ticket of a worker; undefined if there are tickets for other workers only.
 *
 * @throws Error if there are none: the run has ended, or they have expired
 */
export const readTicket = async (
  redis: Pick<Redis, 'hget' | 'exists'>,
  name: string,
  worker: string,
): Promise<string | undefined> => {
  const sealed = await redis.hget(keyOf(name), worker);
  if (sealed !== null) return sealed;
  if (!(await hasTickets(redis, name))) throw new Error('its run has ended');
  return undefined;
};

/** Signs a ticket, and encrypts it to the worker that it is for. */
export const sealTicket = async (
  ticket: Ticket,
  keys: QueueKeys,
  worker: PublicKey,
): Promise<string> => {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.addRecipient(worker.recipient);
  const body = JSON.stringify(ticket);
  const signature = signed(signedBytes(body), keys.signing);
  const sealed = await encrypter.encrypt(JSON.stringify({ body, signature }));
  return Buffer.from(sealed).toString('base64');
};

/**
 * Opens a ticket.
 *
 * @param name the name under which it was in Redis
 * @param controls the control nodes whose tickets the worker accepts
 * @throws Error if it is for another worker, from another control node, of another name, or changed
 */
export const openTicket = async (
  sealed: string,
  name: string,
  keys: QueueKeys,
  controls: readonly PublicKey[],
): Promise<Ticket> => {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(keys.identity);
  const text = await decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text');
  const { body, signature } = JSON.parse(text) as { body: unknown; signature: unknown };
  if (typeof body !== 'string' || typeof signature !== 'string')
    throw new Error('its ticket has another form');
  if (!isSigned(signedBytes(body), signature, controls))
    throw new Error('no control node that this worker knows has signed it');
  const ticket: unknown = JSON.parse(body);
  if (!isTicket(ticket)) throw new Error('its ticket has another form');
  if (ticket.worker !== workerId(keys.publicKey)) throw new Error('it is for another worker');
  if (ticket.tickets !== name) throw new Error('its ticket is that of another run');
  return ticket;
};

/** The purpose is signed too, so that a signature of another message does not fit. */
const signedBytes = (body: string): Uint8Array => Buffer.from(`tsalt-ssh ticket\n${body}`, 'utf8');

const isTicket = (ticket: unknown): ticket is Ticket =>
  isPlainDict(ticket) &&
  ['version', 'jid', 'segment', 'tickets', 'worker', 'runKey', 'jobKey'].every(
    key => typeof ticket[key] === 'string',
  ) &&
  /^\d{20}$/.test(String(ticket.jid)) &&
  Number.isSafeInteger(ticket.expires);
