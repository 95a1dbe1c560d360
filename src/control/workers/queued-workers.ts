import type { Request } from '../../config/request.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { beat } from '../../queue/alive.ts';
import { putBlobs } from '../../queue/blobs.ts';
import { inTime, type JobQueue, QueueServer, type RedisClient } from '../../queue/connect.ts';
import type { PublicKey } from '../../queue/keys.ts';
import { envelopeOf, LostMessages, MessageReceiver, MessageSender } from '../../queue/messages.ts';
import { instanceStream, runStream, segmentQueue } from '../../queue/names.ts';
import { JobSealer, type SealedJob } from '../../queue/sealed-job.ts';
import { removeStream, StreamWriter } from '../../queue/stream.ts';
import { Endable } from './endable.ts';
import { InboxMarks } from './inbox-marks.ts';
import { KnownWorkers, type QueueAccess } from './known-workers.ts';
import {
  decodeMessage,
  encodeMessage,
  type FromQueueWorker,
  type ToFleetWorker,
} from './messages.ts';
import type { PoolMaker, PoolWorker, WorkerPool } from './pool.ts';
import { aborted, otherVersion, queueGone, unknownSegment } from './queue-refusals.ts';
import { queuedRunName, RunKeys } from './run-keys.ts';
import { collectProject, projectKey } from './sent-project.ts';
import { sendHostAway, sendRequest, withoutSecrets } from './sent-request.ts';

/** Milliseconds without a message after which a worker is given up, and without an answer Redis. */
const silence = 30_000;

/**
 * Milliseconds without another message after which a worker gets a sign of life. It gives a run up after
 * 60 s without any, so that several may be late.
 */
const quiet = 15_000;

const silent = `no message from it for ${silence / 1000} s`;

/** Looks are counted, not time: this process may have been busy. */
const mostSilent = silence / beat;

/** Milliseconds for which a job waits if no worker of its segment is alive. */
const patience = 20_000;

/** Milliseconds after which a job that has left the queue and was not claimed is offered again. */
const claimPatience = 6000;

/** Milliseconds of the longest pause between two looks for a job in the queue. */
const longestPause = 60_000;

/** Milliseconds for which a job can be decrypted. */
const lifetime = 24 * 3600_000;

type Waiting = {
  readonly host: Host;
  readonly segment: string;
  /** The id of its job in the queue. */
  job: string;
  /** When it was last known that a worker can take it. */
  since: number;
  /** When the job was put into the queue or last found there, and milliseconds until the next look. */
  seen: number;
  pause: number;
  readonly resolve: (worker: PoolWorker) => void;
  readonly reject: (error: unknown) => void;
};

/** A process of a remote worker. */
type Remote = PoolWorker & {
  readonly instance: string;
  readonly sender: MessageSender;
  /** Marks since its last message. */
  silent: number;
};

type Opened = {
  readonly redis: RedisClient;
  readonly sealer: JobSealer;
  readonly begin: ToFleetWorker;
};

/** Makes a pool of the workers that a queue reaches. */
export const queuedWorkers =
  (
    request: Request,
    hosts: number,
    access: QueueAccess,
    warn: (message: string) => void,
  ): PoolMaker =>
  ears =>
    new QueuedWorkers({ request, hosts, access, warn, ears });

class QueuedWorkers implements WorkerPool {
  readonly #parts: {
    readonly request: Request;
    readonly hosts: number;
    readonly access: QueueAccess;
    readonly ears: Parameters<PoolMaker>[0];
  };
  readonly #server: QueueServer;
  /** The name of this run in the queue. */
  readonly #jid: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #remotes = new Map<string, Remote>();
  readonly #receivers = new Map<string, MessageReceiver>();
  readonly #runKeys = new RunKeys();
  readonly #known: KnownWorkers;
  readonly #queues = new Map<string, Promise<JobQueue>>();
  readonly #gone = new Set<string>();
  #redis: Promise<RedisClient> | undefined;
  #opened: Promise<Opened> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAborted = false;
  #isLooking = false;
  readonly #marks = new InboxMarks();
  /** Looks in which Redis has not answered. */
  #unanswered = 0;
  /** Ends when Redis has not answered for too long. */
  readonly #takes = new Endable();

  constructor({
    warn,
    ...parts
  }: {
    readonly request: Request;
    readonly hosts: number;
    readonly access: QueueAccess;
    readonly warn: (message: string) => void;
    readonly ears: Parameters<PoolMaker>[0];
  }) {
    this.#parts = parts;
    this.#jid = queuedRunName(parts.request.options.jid);
    this.#known = new KnownWorkers(parts.access);
    this.#server = new QueueServer(parts.access.connection, warn);
  }

  take(host: Host, id: number, unneeded?: AbortSignal): Promise<PoolWorker> {
    return this.#takes.until(this.#take(host, id, unneeded));
  }

  async #take(host: Host, id: number, unneeded?: AbortSignal): Promise<PoolWorker> {
    const segment = host.via ?? '';
    if (this.#keysOf(segment).length === 0) throw unknownSegment(host, segment);
    this.#redis ??= this.#server.redis();
    await this.#known.check(await this.#redis, host, segment);
    this.#opened ??= this.#open(this.#redis);
    const job = await this.#sealed(await this.#opened, id, segment);
    if (this.#isAborted || unneeded?.aborted) throw aborted(host);
    // A worker that claims the host is denied it from then on.
    unneeded?.addEventListener('abort', () => this.#waiting.delete(id), { once: true });
    const since = Date.now();
    const claimed = new Promise<PoolWorker>((resolve, reject) => {
      const waiting = { host, segment, job: '', since, seen: since, pause: claimPatience };
      this.#waiting.set(id, { ...waiting, resolve, reject });
    });
    claimed.catch(() => undefined);
    const added = await this.#offer(job, segment);
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.job = added;
    return claimed;
  }

  /** The keys of the workers that may take hosts of a segment. */
  #keysOf(segment: string): readonly PublicKey[] {
    return this.#parts.access.workers.get(segment) ?? [];
  }

  /** Seals the job of a host for the workers of its segment. */
  #sealed({ sealer }: Opened, id: number, segment: string): Promise<SealedJob> {
    const { version } = this.#parts.access;
    const job = { version, jid: this.#jid, number: id, segment, expires: Date.now() + lifetime };
    const keyFor = (worker: string): Buffer => this.#runKeys.of(segment, worker);
    return sealer.seal(job, this.#keysOf(segment), keyFor);
  }

  /** Puts a job into the queue, and returns its id there. */
  async #offer(job: SealedJob, segment: string): Promise<string> {
    const queue = await this.#queue(segmentQueue(segment));
    const { id } = await queue.add('host', job, { removeOnComplete: true, removeOnFail: true });
    return id ?? '';
  }

  left(): void {
    // Each worker knows its own limit (--concurrency).
  }

  abort(): void {
    this.#isAborted = true;
    for (const [id, { host, reject }] of [...this.#waiting]) {
      this.#waiting.delete(id);
      reject(aborted(host));
    }
    for (const remote of this.#remotes.values()) remote.send({ type: 'abort' });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const remote of this.#remotes.values()) remote.send({ type: 'end' });
    await inTime(Promise.all([...this.#remotes.values()].map(({ sender }) => sender.sent())));
    await inTime(this.#removeTraces());
    await this.#server.close();
  }

  /** Removes from Redis what nobody needs after the run. */
  async #removeTraces(): Promise<void> {
    const opened = await this.#opened;
    if (!opened) return;
    await Promise.all([opened.sealer.end(), removeStream(opened.redis, runStream(this.#jid))]);
  }

  async #open(connected: Promise<RedisClient>): Promise<Opened> {
    const { access, request, hosts } = this.#parts;
    const redis = await connected;
    const inbox = new StreamWriter(redis, runStream(this.#jid));
    const key = projectKey(access.keys, access.workers);
    const { project, blobs } = await collectProject(request.config, key);
    await putBlobs(redis, key, blobs);
    const receive = (data: unknown): Promise<void> =>
      this.#marks.isArrived(data) ? this.#caughtUp(redis) : this.#receive(data);
    await this.#server.read(runStream(this.#jid), receive);
    this.#timer = setInterval(() => void this.#look(redis, inbox).catch(() => undefined), beat);
    this.#timer.unref();
    const begin: ToFleetWorker = {
      type: 'begin',
      request: withoutSecrets(sendRequest(request)),
      hosts,
      project,
    };
    return { redis, sealer: new JobSealer(access.keys, redis), begin };
  }

  #queue(name: string): Promise<JobQueue> {
    const queue = this.#queues.get(name) ?? this.#server.queue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Gives the workers a sign of life. Who was silent is known when the mark has arrived. */
  async #look(redis: RedisClient, inbox: StreamWriter): Promise<void> {
    const alive = encodeMessage({ type: 'alive' });
    for (const { sender } of this.#remotes.values()) sender.sendIfQuiet(alive, quiet);
    this.#unanswered += 1;
    if (this.#unanswered > mostSilent) {
      this.#takes.end(queueGone(this.#parts.access.connection, silence));
      for (const remote of [...this.#remotes.values()]) this.#lost(remote, silent);
    }
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await redis.ping();
      this.#unanswered = 0;
      await this.#marks.send(inbox);
    } finally {
      this.#isLooking = false;
    }
  }

  /** All that was sent before a mark is read: drops silent workers, and hosts that no worker can take. */
  async #caughtUp(redis: RedisClient): Promise<void> {
    for (const remote of [...this.#remotes.values()]) {
      remote.silent += 1;
      if (remote.silent > mostSilent) this.#lost(remote, silent);
    }
    // Further messages are read meanwhile.
    void this.#lookAtWaiting(redis)
      .catch(() => undefined)
      .finally(() => this.#marks.done());
  }

  async #lookAtWaiting(redis: RedisClient): Promise<void> {
    const now = Date.now();
    for (const [id, waiting] of [...this.#waiting]) {
      try {
        if (now - waiting.seen > waiting.pause) await this.#offerAgain(id, waiting);
        if (now - waiting.since < patience) continue;
        waiting.since = now;
        await this.#known.check(redis, waiting.host, waiting.segment);
      } catch (error) {
        // Redis itself may be unreachable: then the state of the workers is unknown.
        if (!(error instanceof TsaltError) || !this.#waiting.delete(id)) continue;
        waiting.reject(error);
      }
    }
  }

  /**
   * Puts a job back that was taken from the queue and not claimed: its worker may have died in
   * between, or one that may not have it keeps it. A host is granted once, however often it is there.
   */
  async #offerAgain(id: number, waiting: Waiting): Promise<void> {
    const { segment, job } = waiting;
    const queue = await this.#queue(segmentQueue(segment));
    const isThere = job === '' || (await queue.getJobState(job)) === 'waiting';
    waiting.seen = Date.now();
    // A host may wait for long where all workers are busy.
    waiting.pause = isThere ? Math.min(waiting.pause * 2, longestPause) : claimPatience;
    if (isThere || !this.#waiting.has(id)) return;
    const opened = (await this.#opened) as Opened;
    await opened.sealer.check(segment);
    waiting.job = await this.#offer(await this.#sealed(opened, id, segment), segment);
  }

  async #receive(data: unknown): Promise<void> {
    const envelope = envelopeOf(data);
    const jid = this.#jid;
    if (!envelope || envelope.jid !== jid || this.#gone.has(envelope.instance)) return;
    const { instance } = envelope;
    const from = this.#runKeys.ofProcess(instance);
    if (!from) return;
    const { segment, key } = from;
    const route = { jid, instance, to: 'control' } as const;
    const receiver = this.#receivers.get(instance) ?? new MessageReceiver(key, route);
    let texts: readonly string[];
    try {
      texts = receiver.open(envelope);
    } catch (error) {
      const remote = this.#remotes.get(instance);
      // Other messages that cannot be opened are not from a worker.
      if (error instanceof LostMessages && remote) this.#lost(remote, messageOf(error));
      return;
    }
    if (!this.#runKeys.admits(instance)) return;
    this.#receivers.set(instance, receiver);
    for (const text of texts)
      await this.#hear(instance, segment, decodeMessage(text) as FromQueueWorker);
  }

  async #hear(instance: string, segment: string, message: FromQueueWorker): Promise<void> {
    const remote = this.#remotes.get(instance);
    if (remote) remote.silent = 0;
    if (message.type === 'claim') await this.#claimed(instance, segment, message.id);
    else if (message.type === 'other-version') this.#refused(segment, message);
    else if (message.type === 'lost') {
      if (remote) this.#lost(remote, message.how);
    } else if (message.type !== 'alive' && remote) this.#parts.ears.hear(remote, message);
  }

  /** Grants each host once: a job that is in the queue twice is done once. */
  async #claimed(instance: string, segment: string, id: number): Promise<void> {
    const remote = await this.#remote(instance);
    if (!remote) return;
    const waiting = this.#waiting.get(id);
    if (!waiting || waiting.segment !== segment) {
      remote.send({ type: 'denied', id });
      return;
    }
    this.#waiting.delete(id);
    remote.send({ type: 'granted', id });
    waiting.resolve(remote);
  }

  #refused(
    segment: string,
    { id, version }: FromQueueWorker & { readonly type: 'other-version' },
  ): void {
    const waiting = this.#waiting.get(id);
    if (!waiting || waiting.segment !== segment) return;
    this.#waiting.delete(id);
    waiting.reject(otherVersion(waiting.host, version, this.#parts.access.version, segment));
  }

  async #remote(instance: string): Promise<Remote | undefined> {
    const known = this.#remotes.get(instance);
    const key = this.#runKeys.ofProcess(instance)?.key;
    if (known || !key) return known;
    const { redis, begin } = (await this.#opened) as Opened;
    const outbox = new StreamWriter(redis, instanceStream(instance));
    const sender = new MessageSender(outbox, key, { jid: this.#jid, instance, to: 'worker' });
    const remote: Remote = {
      instance,
      sender,
      silent: 0,
      send: message => sender.send(encodeMessage(message)),
      sendHost: sendHostAway,
      isElsewhere: true,
    };
    this.#remotes.set(instance, remote);
    remote.send(begin);
    if (this.#isAborted) remote.send({ type: 'abort' });
    return remote;
  }

  #lost(remote: Remote, how: string): void {
    this.#remotes.delete(remote.instance);
    this.#gone.add(remote.instance);
    this.#parts.ears.lost(remote, how);
  }
}
