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
 * Makes the pool of a run in which remote workers reach some of the hosts.
 *
 * @throws TsaltError `queue-…`
 */
export const poolOfSegments = async (
  request: Request,
  hosts: readonly Host[],
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
  const elsewhere = queuedWorkers(
    request,
    hosts.length,
    { connection, keys, workers, version: ownVersion() },
    warn,
  );
  const begin = { type: 'begin', request: sendRequest(request), hosts: hosts.length } as const;
  const here = hosts.some(({ via }) => via === undefined)
    ? localWorkers(1, request.fun, begin)
    : undefined;
  return ears => new Segments(elsewhere(ears), here?.(ears));
};

/** Combines remote workers and local processes. */
class Segments implements WorkerPool {
  readonly #elsewhere: WorkerPool;
  readonly #here: WorkerPool | undefined;

  constructor(elsewhere: WorkerPool, here: WorkerPool | undefined) {
    this.#elsewhere = elsewhere;
    this.#here = here;
  }

  take(host: Host, id: number): Promise<PoolWorker> {
    const pool = host.via === undefined ? this.#here : undefined;
    return (pool ?? this.#elsewhere).take(host, id);
  }

  left(worker: PoolWorker): void {
    (worker.isElsewhere ? this.#elsewhere : this.#here)?.left(worker);
  }

  abort(): void {
    this.#elsewhere.abort();
    this.#here?.abort();
  }

  async close(): Promise<void> {
    await Promise.all([this.#elsewhere.close(), this.#here?.close()]);
  }
}
