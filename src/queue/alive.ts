import type { Redis } from 'ioredis';
import { isPlainDict } from '../protocol/plain.ts';
import { isSigned, type PublicKey, type QueueKeys, signed, workerId } from './keys.ts';
import { prefix, workerOf } from './names.ts';

/** A worker's description of itself. */
export type LiveWorker = {
  readonly segment: string;
  /** The short name of the worker, from its key. */
  readonly worker: string;
  /** The name of the process. */
  readonly instance: string;
  readonly version: string;
  /** The machine that it runs on. */
  readonly machine: string;
  /** Hosts that it works for, and the most that it takes at once. */
  readonly hosts: number;
  readonly concurrency: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly at: number;
};

/** Milliseconds between two signs of life, and seconds for which one is kept. */
export const beat = 5000;
const kept = 20;

const keyOf = (instance: string): string => `${prefix}:alive:${instance}`;

const bytesOf = (body: string): Uint8Array => Buffer.from(`tsalt-ssh alive\n${body}`, 'utf8');

/** Writes a sign of life. */
export const sayAlive = async (
  redis: Redis,
  worker: LiveWorker,
  keys: QueueKeys,
): Promise<void> => {
  const body = JSON.stringify(worker);
  const signature = signed(bytesOf(body), keys.signing);
  await redis.set(keyOf(worker.instance), JSON.stringify({ body, signature }), 'EX', kept);
};

/** Removes the sign of life. */
export const sayGone = async (redis: Redis, instance: string): Promise<void> => {
  await redis.del(keyOf(instance));
};

/** The most workers that are listed. */
const most = 10_000;

/**
 * Lists the live workers. Signs of life that are old, or not signed by the key of that worker, are
 * ignored: anyone who can write to Redis can forge them, and a worker those of others.
 *
 * @param keys the keys of the workers, by segment
 */
export const liveWorkers = async (
  redis: Redis,
  keys: ReadonlyMap<string, readonly PublicKey[]>,
): Promise<LiveWorker[]> => {
  const found: LiveWorker[] = [];
  let cursor = '0';
  do {
    const [next, names] = await redis.scan(cursor, 'MATCH', keyOf('*'), 'COUNT', 500);
    cursor = next;
    if (names.length === 0) continue;
    for (const text of await redis.mget(names)) {
      const worker = text === null ? undefined : verified(text, keys);
      if (worker && found.length < most) found.push(worker);
    }
  } while (cursor !== '0');
  return found.sort((a, b) => (a.segment + a.instance < b.segment + b.instance ? -1 : 1));
};

const verified = (
  text: string,
  keys: ReadonlyMap<string, readonly PublicKey[]>,
): LiveWorker | undefined => {
  try {
    const { body, signature } = JSON.parse(text) as { body: string; signature: string };
    const worker: unknown = JSON.parse(body);
    if (!isLive(worker)) return undefined;
    const from = workerOf(worker.instance);
    if (from?.segment !== worker.segment || from.worker !== worker.worker) return undefined;
    const known = (keys.get(worker.segment) ?? []).filter(key => workerId(key) === worker.worker);
    const isFresh = Math.abs(Date.now() - worker.at) < kept * 3 * 1000;
    return isFresh && isSigned(bytesOf(body), signature, known) ? worker : undefined;
  } catch {
    return undefined;
  }
};

const isLive = (worker: unknown): worker is LiveWorker =>
  isPlainDict(worker) &&
  ['segment', 'worker', 'instance', 'version', 'machine'].every(
    key => typeof worker[key] === 'string',
  ) &&
  ['hosts', 'concurrency', 'started', 'at'].every(key => Number.isFinite(worker[key]));
