import type { Host } from '../../protocol/host.ts';
import { type LiveWorker, liveWorkers } from '../../queue/alive.ts';
import type { RedisAddress, RedisClient } from '../../queue/connect.ts';
import type { PublicKey, QueueKeys } from '../../queue/keys.ts';
import { noWorker, otherVersion } from './queue-refusals.ts';

/** How a run reaches remote workers. */
export type QueueAccess = {
  readonly connection: RedisAddress;
  readonly keys: QueueKeys;
  /** The keys of the workers, by segment. */
  readonly workers: ReadonlyMap<string, readonly PublicKey[]>;
  readonly version: string;
};

/** Milliseconds for which the list of live workers is used again. */
const fresh = 2000;

/**
 * The live workers, for all hosts of a run: a list costs a request for each page of keys in Redis,
 * and the check of a signature for each worker.
 */
export class KnownWorkers {
  readonly #access: Pick<QueueAccess, 'connection' | 'version' | 'workers'>;
  #list: Promise<readonly LiveWorker[]> = Promise.resolve([]);
  #asked = 0;

  constructor(access: Pick<QueueAccess, 'connection' | 'version' | 'workers'>) {
    this.#access = access;
  }

  /** @throws TsaltError if no live worker can take a host of the segment */
  async check(redis: RedisClient, host: Host, segment: string): Promise<void> {
    const { connection, version } = this.#access;
    const isFit = (one: LiveWorker): boolean => one.segment === segment && one.version === version;
    const workers = await this.#look(redis, isFit);
    if (workers.some(isFit)) return;
    const other = workers.find(one => one.segment === segment);
    throw other
      ? otherVersion(host, other.version, version, segment)
      : noWorker(host, segment, connection);
  }

  /** Returns a list that is at most 2 s old, or a new one if the old one has no such worker. */
  async #look(
    redis: RedisClient,
    isFit: (worker: LiveWorker) => boolean,
  ): Promise<readonly LiveWorker[]> {
    const asked = Date.now();
    if (asked - this.#asked < fresh) {
      const known = await this.#list;
      if (known.some(isFit)) return known;
    }
    // Of several hosts that find no worker, the first one asks again.
    if (this.#asked <= asked) this.#ask(redis);
    return this.#list;
  }

  #ask(redis: RedisClient): void {
    this.#asked = Date.now();
    this.#list = liveWorkers(redis, this.#access.workers);
    this.#list.catch(() => {
      this.#asked = 0;
    });
  }
}
