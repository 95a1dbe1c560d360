import { join } from 'node:path';
import { ownVersion } from '../../bundle/package-info.ts';
import type { Config } from '../../config/config.ts';
import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { redisAddress } from '../../queue/connect.ts';
import { openKeys, type PublicKey, parseKey } from '../../queue/keys.ts';
import { localWorkers } from './local-workers.ts';
import type { PoolMaker, PoolWorker, WorkerPool } from './pool.ts';
import { queuedWorkers } from './queued-workers.ts';
import { sendRequest } from './sent-request.ts';

/** Returns the folder of the control node's own keys. */
export const controlKeysFolder = (home: string): string => join(home, '.config/tsalt-ssh');

/**
 * Reads the keys of the workers (`workers` in tsalt.yaml), by segment.
 *
 * @throws TsaltError `queue-key`
 */
export const workerKeys = ({ workers }: Config): Map<string, readonly PublicKey[]> =>
  new Map(
    Object.entries(workers).map(([segment, keys]) => [
      segment,
      [keys].flat().map(key => parseKey(String(key), `workers: ${segment}`)),
    ]),
  );

/**
 * Makes the pool of a run: processes of this machine, and remote workers for hosts with `via`. What
 * no host of the run needs is opened when a template asks such a host.
 *
 * @param count how many processes of this machine share the other hosts
 * @throws TsaltError `queue-…`
 */
export const poolOfSegments = async (
  request: Request,
  hosts: readonly Host[],
  warn: (message: string) => void,
  count = 1,
): Promise<PoolMaker> => {
  const begin = { type: 'begin', request: sendRequest(request), hosts: hosts.length } as const;
  const here = localWorkers(count, request.fun, begin);
  let opened: Promise<PoolMaker> | undefined;
  const elsewhere = (): Promise<PoolMaker> => {
    opened ??= openQueue(request, hosts.length, warn);
    return opened;
  };
  const [hasElsewhere, hasHere] = [true, false].map(isElsewhere =>
    hosts.some(({ via }) => (via !== undefined) === isElsewhere),
  );
  if (hasElsewhere) await elsewhere();
  return ears => {
    const pool = new Segments(
      async () => (await elsewhere())(ears),
      () => here(ears),
    );
    if (hasHere) pool.openHere();
    return pool;
  };
};

const openQueue = async (
  request: Request,
  hosts: number,
  warn: (message: string) => void,
): Promise<PoolMaker> => {
  const { config, env } = request;
  const address = config.queue ?? env.TSALT_QUEUE;
  if (address === undefined)
    throw new TsaltError('queue-url', 'A host has `via`, but no queue is configured.', {
      hint: 'Name it in tsalt.yaml (queue: redis://HOST:6379) or in the environment variable TSALT_QUEUE.',
    });
  const connection = redisAddress(address, env, false);
  const keys = await openKeys(controlKeysFolder(env.HOME ?? '/'));
  const workers = workerKeys(config);
  return queuedWorkers(request, hosts, { connection, keys, workers, version: ownVersion() }, warn);
};

/** Combines remote workers and local processes. */
class Segments implements WorkerPool {
  readonly #makeElsewhere: () => Promise<WorkerPool>;
  readonly #makeHere: () => WorkerPool;
  #elsewhere: Promise<WorkerPool> | undefined;
  #here: WorkerPool | undefined;
  #isAborted = false;

  constructor(makeElsewhere: () => Promise<WorkerPool>, makeHere: () => WorkerPool) {
    this.#makeElsewhere = makeElsewhere;
    this.#makeHere = makeHere;
  }

  async take(host: Host, id: number, unneeded?: AbortSignal): Promise<PoolWorker> {
    const pool = host.via === undefined ? this.openHere() : await this.#openElsewhere();
    return pool.take(host, id, unneeded);
  }

  /** Starts the local processes, unless they run. */
  openHere(): WorkerPool {
    if (!this.#here) {
      this.#here = this.#makeHere();
      if (this.#isAborted) this.#here.abort();
    }
    return this.#here;
  }

  #openElsewhere(): Promise<WorkerPool> {
    this.#elsewhere ??= this.#makeElsewhere().then(pool => {
      if (this.#isAborted) pool.abort();
      return pool;
    });
    return this.#elsewhere;
  }

  left(worker: PoolWorker): void {
    if (!worker.isElsewhere) this.#here?.left(worker);
  }

  abort(): void {
    this.#isAborted = true;
    this.#here?.abort();
    this.#elsewhere?.then(
      pool => pool.abort(),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    const elsewhere = this.#elsewhere?.then(
      pool => pool.close(),
      () => undefined,
    );
    await Promise.all([elsewhere, this.#here?.close()]);
  }
}
