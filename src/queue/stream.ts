import type { Redis } from 'ioredis';
import { prefix } from './names.ts';

/** Entries in one response, or one after a response of many characters. */
const atOnce = 8;

/** Milliseconds for which a request waits for the first entry. */
const longestWait = 10_000;

/** Milliseconds without a response after which a connection was cut without notice, at first. */
const usualPatience = 2 * longestWait;

/** Entries that were read are removed after so many, after so many characters, or milliseconds. */
const mostRead = 64;
const mostCharacters = 1_000_000;
const keptFor = 5000;

/** Seconds after which Redis removes a stream that nobody has removed, and when this is extended. */
const lifetime = 24 * 3600;
const extension = 12 * 3600_000;

/** Milliseconds before a request that Redis has refused is repeated. */
const pause = 200;

const keyOf = (name: string): string => `${prefix}:${name}`;

/** The writer of a stream of Redis. A message takes one request. */
export class StreamWriter {
  readonly #redis: Redis;
  readonly #key: string;
  #extended = 0;

  constructor(redis: Redis, name: string) {
    this.#redis = redis;
    this.#key = keyOf(name);
  }

  async append(data: object): Promise<void> {
    await this.#redis.xadd(this.#key, '*', 'data', JSON.stringify(data));
    const now = Date.now();
    if (now - this.#extended < extension) return;
    this.#extended = now;
    await this.#redis.expire(this.#key, lifetime);
  }
}

/** Removes a stream with what nobody has read. */
export const removeStream = async (redis: Redis, name: string): Promise<void> => {
  await redis.del(keyOf(name));
};

/**
 * Reads a stream from its beginning, and removes what was read. Entries are handed over one after the
 * other. A request waits in Redis, and its response has all entries that have come meanwhile: a
 * reader that is slower than the writers takes few requests.
 */
export class StreamReader {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #work: (data: unknown) => Promise<void>;
  readonly #patience: number;
  #last = '0-0';
  #count = atOnce;
  #read = 0;
  #characters = 0;
  #removed = Date.now();
  #isStopped = false;

  /**
   * @param redis a connection for this reader alone: requests that wait hold up all others
   * @param patience milliseconds without a response after which the connection is replaced: longer
   *   than a request waits
   */
  constructor(
    redis: Redis,
    name: string,
    work: (data: unknown) => Promise<void>,
    patience = usualPatience,
  ) {
    this.#redis = redis;
    this.#key = keyOf(name);
    this.#work = work;
    this.#patience = patience;
  }

  /** Reads until `stop` is called. */
  async run(): Promise<void> {
    while (!this.#isStopped)
      try {
        await this.#next();
      } catch {
        // A Redis that starts refuses requests.
        if (!this.#isStopped) await new Promise(resolve => setTimeout(resolve, pause));
      }
  }

  stop(): void {
    this.#isStopped = true;
    this.#redis.disconnect();
  }

  async #next(): Promise<void> {
    const found = await this.#response();
    const entries = found?.[0]?.[1] ?? [];
    const before = this.#characters;
    for (const [id, [, text = '']] of entries) {
      if (this.#isStopped) return;
      this.#last = id;
      this.#read += 1;
      this.#characters += text.length;
      // As a message that cannot be decrypted, one that fails concerns no other one.
      await this.#handOver(text).catch(() => undefined);
    }
    this.#count = this.#characters - before > mostCharacters ? 1 : atOnce;
    if (this.#isDue()) await this.#remove();
  }

  async #response(): Promise<Awaited<ReturnType<Redis['xread']>>> {
    let patience = this.#patience;
    let late: NodeJS.Timeout | undefined;
    const wait = (): void => {
      late = setTimeout(replace, patience).unref();
    };
    const replace = (): void => {
      // The next connection repeats the request. A long response over a slow link needs more time.
      patience *= 2;
      this.#redis.disconnect(true);
      wait();
    };
    wait();
    try {
      const how = ['COUNT', this.#count, 'BLOCK', longestWait] as const;
      return await this.#redis.xread(...how, 'STREAMS', this.#key, this.#last);
    } finally {
      clearTimeout(late);
    }
  }

  async #handOver(text: string): Promise<void> {
    await this.#work(JSON.parse(text));
  }

  #isDue(): boolean {
    if (this.#read === 0) return false;
    const isMuch = this.#read >= mostRead || this.#characters >= mostCharacters;
    return isMuch || Date.now() - this.#removed >= keptFor;
  }

  /** Removes what was read. */
  async #remove(): Promise<void> {
    this.#read = 0;
    this.#characters = 0;
    this.#removed = Date.now();
    const [time, number] = this.#last.split('-');
    await this.#redis.xtrim(this.#key, 'MINID', `${time}-${Number(number) + 1}`);
  }
}
