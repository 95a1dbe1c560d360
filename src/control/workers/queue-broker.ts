import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { messageOf } from '../../protocol/error.ts';
import { beat, sayAlive, sayGone } from '../../queue/alive.ts';
import { inTime, type JobQueue, type QueueServer, type RedisClient } from '../../queue/connect.ts';
import { type PublicKey, type QueueKeys, workerId } from '../../queue/keys.ts';
import { envelopeOf } from '../../queue/messages.ts';
import { instanceName, instanceStream, joinedName, segmentQueue } from '../../queue/names.ts';
import { JobOpener, type QueueJob, type SealedJob, sealedJobOf } from '../../queue/sealed-job.ts';
import { removeStream } from '../../queue/stream.ts';
import { readTicket } from '../../queue/tickets.ts';
import { BrokeredRun } from './brokered-run.ts';

/** A worker of a segment. */
export type WorkerSettings = {
  readonly server: QueueServer;
  readonly keys: QueueKeys;
  /** The control nodes whose jobs it accepts. */
  readonly controls: readonly PublicKey[];
  readonly segment: string;
  readonly concurrency: number;
  readonly version: string;
  /** The worker's folder. */
  readonly folder: string;
  readonly log: (message: string) => void;
};

/**
 * Milliseconds after which a job that is for other workers is put back, and how often. The control
 * node offers a job again that nobody claims.
 */
const returnDelay = 1000;
const mostReturns = 20;

/**
 * Works on the hosts of a segment. Each run has a process of its own, which does not know the
 * queue: this process relays the messages.
 */
export class QueueBroker {
  readonly #settings: WorkerSettings;
  readonly #opener: JobOpener;
  /** The short name of the worker, which its key decides, and the name of this process. */
  readonly #id: string;
  readonly #instance: string;
  readonly #runs = new Map<string, Promise<BrokeredRun>>();
  readonly #started = Date.now();
  #redis: RedisClient | undefined;
  #hosts = 0;
  #joined = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopTaking: () => Promise<unknown> = async () => undefined;
  #jobs: Promise<JobQueue> | undefined;
  /** It was logged that jobs of the segment are for other workers. */
  #isStranger = false;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#opener = new JobOpener(settings.keys, settings.controls, (tickets, worker) =>
      readTicket(this.#redis as RedisClient, tickets, worker),
    );
    this.#id = workerId(settings.keys.publicKey);
    this.#instance = instanceName(settings.segment, this.#id, randomBytes(8).toString('hex'));
  }

  /**
   * Begins to accept jobs.
   *
   * @throws TsaltError `queue` where Redis does not answer
   */
  async start(): Promise<void> {
    const { server, segment, concurrency } = this.#settings;
    this.#redis = await server.redis();
    await server.read(instanceStream(this.#instance), data => this.#receive(data));
    await this.#alive();
    this.#timer = setInterval(() => void this.#beat(), beat);
    const work = (data: unknown): Promise<void> => this.#work(data);
    const taking = await server.worker(segmentQueue(segment), work, concurrency);
    this.#stopTaking = () => taking.pause(true);
  }

  /** Accepts no further jobs, and resolves when the current hosts are done. */
  async stop(): Promise<void> {
    await inTime(this.#stopTaking());
    await Promise.all([...this.#runs.values()].map(async run => (await run).leave()));
    await this.#close();
  }

  /** Ends the current hosts in order. */
  abort(): void {
    for (const run of this.#runs.values()) void run.then(one => one.abort('it was stopped'));
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    const farewells = [
      this.#redis && sayGone(this.#redis, this.#instance),
      this.#redis && removeStream(this.#redis, instanceStream(this.#instance)),
    ];
    await inTime(Promise.allSettled(farewells));
    await this.#settings.server.close();
  }

  async #alive(): Promise<void> {
    const { segment, version, concurrency, keys } = this.#settings;
    if (!this.#redis) return;
    const about = {
      segment,
      worker: this.#id,
      instance: this.#instance,
      version,
      machine: hostname(),
      hosts: this.#hosts,
      concurrency,
      started: this.#started,
      at: Date.now(),
    };
    await sayAlive(this.#redis, about, keys);
  }

  async #beat(): Promise<void> {
    await this.#alive().catch(() => undefined);
    for (const run of this.#runs.values()) (await run).beat();
  }

  async #work(data: unknown): Promise<void> {
    const { segment, log, version } = this.#settings;
    let job: QueueJob;
    try {
      const sealed = sealedJobOf(data);
      if (!sealed) throw new Error('it has another form, perhaps that of another version');
      const opened = await this.#opener.open(sealed);
      if (!opened) return this.#putBack(sealed);
      if (opened.segment !== segment) throw new Error('it is for another segment');
      job = opened;
    } catch (error) {
      log(`A job was refused: ${messageOf(error)}.`);
      return;
    }
    this.#hosts += 1;
    try {
      const run = await this.#runOf(job);
      await run.host(job, version);
    } catch (error) {
      log(`Run ${job.jid}: ${messageOf(error)}`);
    } finally {
      this.#hosts -= 1;
    }
  }

  /** Leaves a job to the workers that it is for. */
  async #putBack({ returned = 0, ...job }: SealedJob): Promise<void> {
    const { segment, server, log } = this.#settings;
    if (!this.#isStranger)
      log(
        `A job is not for this worker, ${this.#id}: its key is not (or no longer) among those of the segment ${segment}.`,
      );
    this.#isStranger = true;
    await new Promise(resolve => setTimeout(resolve, returnDelay));
    if (returned >= mostReturns) return;
    this.#jobs ??= server.queue(segmentQueue(segment));
    await (await this.#jobs).add(
      'host',
      { ...job, returned: returned + 1 },
      { removeOnComplete: true, removeOnFail: true },
    );
  }

  async #runOf(job: QueueJob): Promise<BrokeredRun> {
    const { jid, runKey } = job;
    const joined = this.#runs.get(jid);
    if (joined) {
      const known = await joined;
      if (!known.isEnding) return known;
      // It may have given up a control node that is heard again now.
      await known.over;
      return this.#runOf(job);
    }
    const run = this.#openRun(jid, Buffer.from(runKey, 'base64'));
    this.#runs.set(jid, run);
    run.then(
      ({ over }) => over.finally(() => this.#runs.delete(jid)),
      () => this.#runs.delete(jid),
    );
    return run;
  }

  async #openRun(jid: string, key: Buffer): Promise<BrokeredRun> {
    const { folder, log } = this.#settings;
    this.#joined += 1;
    return new BrokeredRun({
      jid,
      key,
      instance: joinedName(this.#instance, this.#joined),
      redis: this.#redis as RedisClient,
      folder,
      log,
    });
  }

  async #receive(data: unknown): Promise<void> {
    const envelope = envelopeOf(data);
    const run = envelope && (await this.#runs.get(envelope.jid));
    if (run && run.instance === envelope.instance) await run.receive(envelope);
  }
}
