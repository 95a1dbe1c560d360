import { readFileSync } from 'node:fs';
import type { Queue, Worker } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { prefix } from './names.ts';
import { StreamReader } from './stream.ts';

/** A queue of BullMQ, and a connection for plain requests. */
export type JobQueue = Queue;
export type RedisClient = Redis;

/** How to connect to Redis. */
export type RedisAddress = {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: object;
  readonly maxRetriesPerRequest: null;
};

/**
 * Reads the address of a queue: `redis://HOST:PORT/DB`, `rediss://…` with TLS, or a reference to
 * it: `env:NAME` or `file:PATH`.
 *
 * @param isTyped it is on the command line, where others can read a password
 * @throws TsaltError `queue-url`
 */
export const redisAddress = (
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  isTyped: boolean,
): RedisAddress => {
  const url = urlOf(urlText(text, env));
  if (isTyped && url.password !== '' && text.startsWith('redis'))
    throw wrong('A password on the command line can be read by every user of this machine.', {
      hint: 'Give the address in an environment variable: --queue env:TSALT_QUEUE',
    });
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const db = /^\/(\d{1,4})$/.exec(url.pathname)?.[1];
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(url.port || 6379),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(db === undefined ? {} : { db: Number(db) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
    maxRetriesPerRequest: null,
  };
};

const urlText = (text: string, env: Readonly<Record<string, string | undefined>>): string => {
  const [, kind, rest = ''] = /^(env|file):(.+)$/.exec(text) ?? [];
  if (kind === 'env') {
    const value = env[rest];
    if (value === undefined || value === '')
      throw wrong(`The environment variable ${rest} is not set.`);
    return value.trim();
  }
  if (kind !== 'file') return text;
  try {
    return readFileSync(rest, 'utf8').trim();
  } catch (cause) {
    throw wrong(`${rest} cannot be read: ${messageOf(cause)}.`, { cause });
  }
};

/** An address may contain a password: it is not shown. */
const urlOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['redis:', 'rediss:'].includes(url.protocol)) return url;
  throw wrong('The address of a queue is redis://HOST:PORT, or rediss://HOST:PORT for TLS.', {
    hint: 'env:NAME and file:PATH say where the address is.',
  });
};

const wrong = (message: string, more: { hint?: string; cause?: unknown } = {}): TsaltError =>
  new TsaltError('queue-url', message, more);

/** The address without its password. */
export const shownAddress = ({ host, port, db, tls }: RedisAddress): string =>
  `${tls ? 'rediss' : 'redis'}://${host}:${port}${db === undefined ? '' : `/${db}`}`;

/** Milliseconds that the first connection may take: many workers may start on the same machine. */
const patience = 20_000;
/** Milliseconds that a last request may take. */
const lastPatience = 2000;
/** Seconds for which a request of an idle worker waits for a job. */
const idleWait = 15;
/** Milliseconds of the longest pause between two attempts to connect again. */
const longestPause = 1000;

/**
 * Waits for a last request to Redis, but not for long: requests to one that has gone wait until it
 * is back, which may be never.
 */
export const inTime = async (request: Promise<unknown>): Promise<void> => {
  let late: NodeJS.Timeout | undefined;
  const isLate = new Promise<void>(resolve => {
    late = setTimeout(resolve, lastPatience);
  });
  await Promise.race([
    request.then(
      () => undefined,
      () => undefined,
    ),
    isLate,
  ]);
  clearTimeout(late);
};

/** Redis, as BullMQ connects to it. */
export class QueueServer {
  readonly #connection: RedisAddress & Pick<RedisOptions, 'retryStrategy'>;
  readonly #closers: (() => Promise<unknown>)[] = [];
  readonly #warn: (message: string) => void;
  #hasWarned = false;
  #isClosing = false;
  #isOver = false;
  #wasReached = false;
  /** The reason of the last failed connection. */
  #reason = '';

  /** @param warn is called once when the connection is lost; reconnecting is tried forever */
  constructor(connection: RedisAddress, warn: (message: string) => void) {
    // Without a limit, a connection to a Redis that has gone would keep the process alive.
    const retryStrategy = (times: number): number | null =>
      this.#isOver ? null : Math.min(times * 100, longestPause);
    this.#connection = { ...connection, retryStrategy };
    this.#warn = warn;
  }

  /**
   * Opens a connection for plain requests.
   *
   * @throws TsaltError `queue` if Redis does not respond
   */
  async redis(): Promise<Redis> {
    const { Redis } = await import('ioredis');
    const redis = new Redis({ ...this.#connection, lazyConnect: true });
    redis.on('error', this.#complain);
    this.#closers.push(async () => redis.disconnect());
    await this.#reached(redis.connect().then(() => redis.ping()));
    return redis;
  }

  /**
   * Reads the messages of a stream, one after the other.
   *
   * @throws TsaltError `queue` if Redis does not respond
   */
  async read(name: string, work: (data: unknown) => Promise<void>): Promise<void> {
    const reader = new StreamReader(await this.redis(), name, work);
    this.#closers.push(async () => reader.stop());
    void reader.run();
  }

  /** @throws TsaltError `queue` if Redis does not respond */
  async queue(name: string): Promise<Queue> {
    const { Queue } = await import('bullmq');
    const queue = new Queue(name, { connection: { ...this.#connection }, prefix });
    queue.on('error', this.#complain);
    this.#closers.push(() => queue.close());
    await this.#reached(queue.waitUntilReady());
    return queue;
  }

  async #reached(ready: Promise<unknown>): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const answered = await Promise.race([
      ready.then(
        () => '',
        (error: unknown) => messageOf(error),
      ),
      new Promise<string>(resolve => {
        late = setTimeout(resolve, patience, `no answer within ${patience / 1000} s`);
      }),
    ]);
    clearTimeout(late);
    if (answered === '') {
      this.#wasReached = true;
      return;
    }
    const reason = (this.#reason === '' ? answered : this.#reason).replace(/\.$/, '');
    throw new TsaltError(
      'queue',
      `The queue ${shownAddress(this.#connection)} cannot be used: ${reason}.`,
      { kind: 'unreachable' },
    );
  }

  /**
   * Works on the jobs of a queue.
   *
   * @param concurrency how many of them at once
   */
  async worker(
    name: string,
    work: (data: unknown) => Promise<void>,
    concurrency: number,
  ): Promise<Worker> {
    const { Worker } = await import('bullmq');
    const worker = new Worker(name, job => work(job.data), {
      connection: { ...this.#connection },
      prefix,
      concurrency,
      // A host is never run twice: the worker that died may have changed it.
      maxStalledCount: 0,
      drainDelay: idleWait,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', this.#complain);
    this.#closers.push(() => worker.close(true));
    // If it is closed before it is ready, it would throw an unhandled error.
    await this.#reached(worker.waitUntilReady());
    return worker;
  }

  /** Closes all connections. Those to a Redis that does not respond are given up. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await inTime(Promise.allSettled(this.#closers.splice(0).map(close => close())));
    this.#isOver = true;
  }

  readonly #complain = (error: Error): void => {
    this.#reason = messageOf(error);
    if (this.#hasWarned || this.#isClosing || !this.#wasReached) return;
    this.#hasWarned = true;
    this.#warn(`${shownAddress(this.#connection)}: ${messageOf(error)}`);
  };
}
