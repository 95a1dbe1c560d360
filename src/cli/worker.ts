import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownVersion } from '../bundle/package-info.ts';
import { QueueBroker } from '../control/workers/queue-broker.ts';
import { controlKeysFolder, workerKeys } from '../control/workers/segments.ts';
import { oneLine } from '../output/text.ts';
import { TsaltError } from '../protocol/error.ts';
import { type LiveWorker, liveWorkers } from '../queue/alive.ts';
import { QueueServer, redisAddress, shownAddress } from '../queue/connect.ts';
import { openKeys, parseKey, publicKeyText, workerId } from '../queue/keys.ts';
import { isSegment, segmentQueue } from '../queue/names.ts';
import type { QueueCounts } from '../queue/queue-metrics.ts';
import type { Given } from '../request/given.ts';
import { wholeNumberOf } from '../request/number-option.ts';
import type { Opened } from './commands.ts';
import { exitCode } from './exit-code.ts';
import { printText } from './print-text.ts';
import { writeMetrics } from './write-metrics.ts';

type Env = Opened['env'];

/** `worker key`: prints the public key of the worker of a segment, for tsalt.yaml. */
export const workerKey = async (words: readonly string[], given: Given): Promise<number> => {
  noWords(words, 'worker key');
  const { publicKey } = await openKeys(folderOf(given));
  return printText(`${publicKeyText(publicKey)}\n`);
};

/** `workers key`: prints the public key of this control node, for workers. */
export const controlKey = async (words: readonly string[], { env }: Opened): Promise<number> => {
  noWords(words, 'workers key');
  const { publicKey } = await openKeys(controlKeysFolder(env.HOME ?? homedir()));
  return printText(`${publicKeyText(publicKey)}\n`);
};

/**
 * `worker`: runs hosts of a segment for control nodes until interrupted. The first signal lets the
 * current hosts finish, the second one ends them in order.
 *
 * @throws TsaltError `usage-…`, `queue-…`
 */
export const queueWorker = async (
  words: readonly string[],
  given: Given,
  env: Env,
): Promise<number> => {
  noWords(words, 'worker');
  const { options } = given;
  const segment = segmentOf(given);
  const address = textOf(options.queue) ?? env.TSALT_QUEUE;
  if (address === undefined)
    throw new TsaltError('usage-value', 'A worker needs a queue.', {
      hint: `tsalt-ssh worker --name ${segment} --queue redis://HOST:6379 --control KEY`,
    });
  const control = textOf(options.control) ?? env.TSALT_CONTROL;
  if (control === undefined)
    throw new TsaltError(
      'usage-value',
      'A worker needs the key of the control node it works for.',
      {
        hint: 'tsalt-ssh workers key prints it on the control node; pass it with --control KEY.',
      },
    );
  const controls = control.split(',').map(key => parseKey(key, '--control'));
  const connection = redisAddress(address, env, options.queue !== undefined);
  const folder = folderOf(given);
  const log = (message: string): void => {
    process.stderr.write(`${new Date().toISOString()} ${oneLine(message)}\n`);
  };
  const keys = await openKeys(folder);
  const broker = new QueueBroker({
    server: new QueueServer(connection, message => log(`The queue cannot be reached: ${message}`)),
    keys,
    controls,
    segment,
    concurrency: wholeNumberOf('concurrency', options.concurrency) ?? 25,
    version: ownVersion(),
    folder,
    log,
  });
  await broker.start();
  log(
    `Worker of the segment ${segment} at ${shownAddress(connection)}: ${workerId(keys.publicKey)}, key ${publicKeyText(keys.publicKey)}`,
  );
  await stopped(() => {
    log('No further hosts are accepted. Once more ends the current ones.');
    process.once('SIGINT', () => broker.abort());
    process.once('SIGTERM', () => broker.abort());
  });
  await broker.stop();
  // A connection that waits to try again would keep the process alive.
  setTimeout(() => process.exit(exitCode.ok), 200).unref();
  return exitCode.ok;
};

const stopped = (then: () => void): Promise<void> =>
  new Promise(resolve => {
    const onSignal = (): void => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      then();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });

/** `workers`: lists the workers that are alive. */
export const listWorkers = async (
  words: readonly string[],
  { config, env, given }: Opened,
): Promise<number> => {
  noWords(words, 'workers');
  const address = textOf(given.options.queue) ?? config.queue ?? env.TSALT_QUEUE;
  if (address === undefined)
    throw new TsaltError('queue-url', 'No queue is configured.', {
      hint: 'Name it in tsalt.yaml (queue: redis://HOST:6379) or in the environment variable TSALT_QUEUE.',
    });
  const connection = redisAddress(address, env, given.options.queue !== undefined);
  const server = new QueueServer(connection, () => undefined);
  try {
    const keys = workerKeys(config);
    const workers = await liveWorkers(await server.redis(), keys);
    const file = textOf(given.options.prometheus);
    if (file !== undefined) await writeQueueMetrics(file, server, [...keys.keys()], workers);
    if (given.options.out === 'json') return printText(`${JSON.stringify(workers, null, 4)}\n`);
    if (workers.length === 0)
      return printText(
        `No worker with a key in tsalt.yaml lives at ${shownAddress(connection)}.\n`,
      );
    const own = ownVersion();
    const lines = workers.map(
      ({ segment, worker, machine, version, hosts, concurrency, started }) => {
        const seconds = Math.round((Date.now() - started) / 1000);
        const note = version === own ? '' : `  (this is ${own}: install the same version)`;
        return `${oneLine(segment).padEnd(16)}${oneLine(machine).padEnd(24)}${worker}  ${oneLine(version).padEnd(10)}${hosts}/${concurrency} hosts  up ${seconds} s${note}\n`;
      },
    );
    return printText(lines.join(''));
  } finally {
    await server.close();
  }
};

/** Writes the metrics of the queue and its workers for a collector. */
const writeQueueMetrics = async (
  file: string,
  server: QueueServer,
  segments: readonly string[],
  workers: readonly LiveWorker[],
): Promise<void> => {
  const counts = new Map<string, QueueCounts>();
  for (const segment of segments) {
    const queue = await server.queue(segmentQueue(segment));
    const { wait = 0, active = 0 } = await queue.getJobCounts('wait', 'active');
    counts.set(segment, { waiting: wait, active });
  }
  const { queueMetrics } = await import('../queue/queue-metrics.ts');
  await writeMetrics(file, await queueMetrics(workers, counts, Date.now()));
};

const segmentOf = ({ options }: Given): string => {
  const segment = textOf(options.name);
  if (segment !== undefined && isSegment(segment)) return segment;
  throw new TsaltError(
    'usage-value',
    segment === undefined
      ? 'A worker needs the name of its segment.'
      : `'${segment}' cannot be the name of a segment: letters, digits, '.', '_' and '-' can be in it.`,
    { hint: 'For example: --name dmz' },
  );
};

/** The folder of a worker: its keys, and the files of runs. */
const folderOf = (given: Given): string => {
  const named = textOf(given.options['worker-dir']);
  return named ?? join(homedir(), '.local/share/tsalt-ssh', `worker-${segmentOf(given)}`);
};

const noWords = (words: readonly string[], command: string): void => {
  if (words.length > 0) throw new TsaltError('usage-words', `'${command}' takes no '${words[0]}'.`);
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
