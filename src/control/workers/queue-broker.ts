import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { messageOf } from '../../protocol/error.ts';
import { beat, sayAlive, sayGone } from '../../queue/alive.ts';
import { keyedName } from '../../queue/cipher.ts';
import { inTime, type JobQueue, type QueueServer, type RedisClient } from '../../queue/connect.ts';
import type { PublicKey, QueueKeys } from '../../queue/keys.ts';
import { envelopeOf, MessageReceiver, MessageSender } from '../../queue/messages.ts';
import { instanceQueue, runQueue, segmentQueue } from '../../queue/names.ts';
import { openJob, type QueueJob } from '../../queue/sealed-job.ts';
import {
  decodeMessage,
  encodeMessage,
  type FromFleetWorker,
  type FromQueueWorker,
  type ToFleetWorker,
} from './messages.ts';
import { receiveProject, relocatedRequest } from './received-project.ts';
import type { SentHost } from './sent-request.ts';
import { WorkerLink } from './worker-link.ts';

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

/** Milliseconds to wait for the response to a claim. */
const claimPatience = 30_000;

/** Milliseconds without a message of the control node after which its run is ended in order. */
const silence = 60_000;

/**
 * Works on the hosts of a segment. Each run has a process of its own, which does not know the
 * queue: this process relays the messages.
 */
export class QueueBroker {
  readonly #settings: WorkerSettings;
  readonly #instance: string;
  readonly #runs = new Map<string, Promise<BrokeredRun>>();
  readonly #started = Date.now();
  #redis: RedisClient | undefined;
  #hosts = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopTaking: () => Promise<unknown> = async () => undefined;
  #outbox: JobQueue | undefined;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#instance = `${settings.segment}~${randomBytes(8).toString('hex')}`;
  }

  /**
   * Begins to accept jobs.
   *
   * @throws TsaltError `queue` where Redis does not answer
   */
  async start(): Promise<void> {
    const { server, segment, concurrency } = this.#settings;
    this.#redis = await server.redis();
    this.#outbox = await server.queue(instanceQueue(this.#instance));
    await server.worker(instanceQueue(this.#instance), data => this.#receive(data), {
      mayStall: true,
    });
    await this.#alive();
    this.#timer = setInterval(() => void this.#beat(), beat);
    const taking = await server.worker(segmentQueue(segment), data => this.#work(data), {
      concurrency,
    });
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
      this.#outbox?.obliterate({ force: true }),
    ];
    await inTime(Promise.allSettled(farewells));
    await this.#settings.server.close();
  }

  async #alive(): Promise<void> {
    const { segment, version, concurrency, keys } = this.#settings;
    if (!this.#redis) return;
    const about = {
      segment,
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
    const { keys, controls, segment, log, version } = this.#settings;
    const { sealed } = (data ?? {}) as { readonly sealed?: unknown };
    let job: QueueJob;
    try {
      job = await openJob(String(sealed), keys, controls);
      if (job.segment !== segment) throw new Error('it is for another segment');
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

  #runOf({ jid, runKey }: QueueJob): Promise<BrokeredRun> {
    const known = this.#runs.get(jid);
    if (known) return known;
    const run = this.#openRun(jid, Buffer.from(runKey, 'base64'));
    this.#runs.set(jid, run);
    run.then(
      ({ over }) => over.finally(() => this.#runs.delete(jid)),
      () => this.#runs.delete(jid),
    );
    return run;
  }

  async #openRun(jid: string, key: Buffer): Promise<BrokeredRun> {
    const { server, folder, log } = this.#settings;
    const queue = await server.queue(runQueue(jid));
    return new BrokeredRun({
      jid,
      key,
      queue,
      instance: this.#instance,
      redis: this.#redis as RedisClient,
      folder,
      log,
    });
  }

  async #receive(data: unknown): Promise<void> {
    const envelope = envelopeOf(data);
    const run = envelope && (await this.#runs.get(envelope.jid));
    if (run && envelope.instance === this.#instance) await run.receive(envelope);
  }
}

type RunParts = {
  readonly jid: string;
  readonly key: Buffer;
  readonly queue: JobQueue;
  readonly instance: string;
  readonly redis: RedisClient;
  readonly folder: string;
  readonly log: (message: string) => void;
};

/** The hosts of one run on this worker. */
class BrokeredRun {
  readonly #parts: RunParts;
  readonly #sender: MessageSender;
  readonly #receiver: MessageReceiver;
  /** Claims without a response, and current hosts, by number. */
  readonly #claims = new Map<number, (isGranted: boolean) => void>();
  readonly #atWork = new Map<number, () => void>();
  /** Numbers of questions whose answer is a host. */
  readonly #asked = new Set<number>();
  readonly #keyFolder: string;
  #child: WorkerLink | undefined;
  #knownHosts = '';
  #tree = '';
  #cwd = '';
  #keyFiles = 0;
  #end: () => void = () => undefined;
  /** Resolves when the run has ended on this worker. */
  readonly over: Promise<void>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { queue, key, jid, instance } = parts;
    this.#sender = new MessageSender(queue, key, { jid, instance, to: 'control' });
    this.#receiver = new MessageReceiver(key, { jid, instance, to: 'worker' });
    this.over = new Promise(resolve => {
      this.#end = resolve;
    });
    // In memory if possible: keys of hosts are stored there during the run.
    this.#keyFolder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tsalt-'));
  }

  /** Claims a host, and resolves when the work on it is done. */
  async host({ number, version }: QueueJob, own: string): Promise<void> {
    if (version !== own) {
      this.#send({ type: 'other-version', id: number, version: own });
      await this.#sender.sent();
      if (!this.#child && this.#claims.size === 0) this.#finish();
      return;
    }
    const done = new Promise<void>(resolve => this.#atWork.set(number, resolve));
    const granted = new Promise<boolean>(resolve => this.#claims.set(number, resolve));
    this.#send({ type: 'claim', id: number });
    const late = setTimeout(() => this.#claims.get(number)?.(false), claimPatience);
    const isGranted = await granted;
    clearTimeout(late);
    this.#claims.delete(number);
    if (isGranted) await done;
    this.#atWork.delete(number);
    // The run has ended, or the job is an old one.
    if (!isGranted && !this.#child && this.#claims.size === 0) this.#finish();
  }

  /** Sends a sign of life; ends the run if the control node is silent. */
  beat(): void {
    this.#send({ type: 'alive' });
    if (Date.now() - this.#receiver.heard > silence)
      this.abort('the control node was silent for too long');
  }

  /** Resolves when the current hosts are done and the run has ended on this worker. */
  async leave(): Promise<void> {
    await this.#idle();
    void this.#close();
    await this.over;
  }

  #idle(): Promise<unknown> {
    return Promise.all([...this.#atWork.keys()].map(number => this.#doneOf(number)));
  }

  /** Ends the current hosts in order, and the run with them. */
  abort(why: string): void {
    this.#parts.log(`Run ${this.#parts.jid} is ended: ${why}.`);
    this.#child?.send({ type: 'abort' });
    const late = new Promise(resolve => setTimeout(resolve, silence).unref());
    void Promise.race([this.#idle(), late]).then(() => this.#close());
  }

  #doneOf(number: number): Promise<void> {
    const before = this.#atWork.get(number);
    return new Promise(resolve => {
      this.#atWork.set(number, () => {
        before?.();
        resolve();
      });
    });
  }

  async receive(envelope: Parameters<MessageReceiver['open']>[0]): Promise<void> {
    let texts: readonly string[];
    try {
      texts = this.#receiver.open(envelope);
    } catch (error) {
      this.#parts.log(`Run ${this.#parts.jid}: a message was refused: ${messageOf(error)}.`);
      return;
    }
    for (const text of texts) await this.#message(decodeMessage(text) as ToFleetWorker);
  }

  async #message(message: ToFleetWorker): Promise<void> {
    if (message.type === 'granted' || message.type === 'denied')
      this.#claims.get(message.id)?.(message.type === 'granted');
    else if (message.type === 'begin') await this.#begin(message);
    else if (message.type === 'host')
      this.#child?.send({ ...message, host: await this.#withKey(message.host) });
    else if (message.type === 'answer') await this.#answer(message);
    else if (message.type === 'end') await this.#close();
    else if (message.type !== 'alive') this.#child?.send(message);
  }

  async #begin(message: ToFleetWorker & { readonly type: 'begin' }): Promise<void> {
    const { folder, redis, log, jid } = this.#parts;
    const { project, request } = message;
    try {
      if (!project) throw new Error('it has no project');
      this.#cwd = project.cwd;
      this.#tree = await receiveProject(project, folder, redis);
      this.#knownHosts = await this.#writeKnownHosts(project.key, project.knownHosts ?? '');
      const { project: _, ...begin } = message;
      const placed = relocatedRequest(request, {
        tree: this.#tree,
        cacheDir: privateDir(join(folder, 'cache')),
        knownHosts: this.#knownHosts,
      });
      const child = new WorkerLink(request.fun, said => this.#hear(said));
      this.#child = child;
      child.send({ ...begin, request: placed });
      void child.ended.then(how => this.#childEnded(how));
    } catch (error) {
      log(`Run ${jid} cannot begin: ${messageOf(error)}`);
      this.#send({ type: 'lost', how: messageOf(error) });
      await this.#sender.sent();
      this.#finish();
    }
  }

  /** Adds host keys that were accepted here to those of the control node. */
  async #writeKnownHosts(projectKey: string, sent: string): Promise<string> {
    const folder = privateDir(join(this.#parts.folder, 'known-hosts'));
    const path = join(folder, keyedName(Buffer.from(projectKey, 'base64'), 'known hosts'));
    const own = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const lines = new Set([...sent.split('\n'), ...own.split('\n')].filter(line => line !== ''));
    await writePrivate(path, `${[...lines].join('\n')}\n`);
    return path;
  }

  async #withKey(host: SentHost): Promise<SentHost> {
    const { key, ...rest } = host;
    if (key === undefined) return rest;
    this.#keyFiles += 1;
    const priv = join(this.#keyFolder, String(this.#keyFiles));
    writeFileSync(priv, key, { mode: 0o600, flag: 'wx' });
    return { ...rest, priv };
  }

  async #answer(message: ToFleetWorker & { readonly type: 'answer' }): Promise<void> {
    const { id, answer } = message;
    if (!this.#asked.delete(id) || !('value' in answer)) {
      this.#child?.send(message);
      return;
    }
    const value = await this.#withKey(answer.value as SentHost);
    this.#child?.send({ ...message, answer: { value } });
  }

  #hear(message: FromFleetWorker): void {
    if (message.type === 'ask' && message.method === 'prepare') this.#asked.add(message.id);
    this.#send(message);
    if (message.type === 'done' || message.type === 'failed') {
      this.#atWork.get(message.id)?.();
      this.#atWork.delete(message.id);
    }
  }

  /** Replaces paths of this machine in messages by those of the control node. */
  #send(message: FromQueueWorker): void {
    const text = encodeMessage(message);
    this.#sender.send(
      this.#tree === ''
        ? text
        : text.replaceAll(`${this.#tree}${this.#cwd}/`, '').replaceAll(this.#tree, ''),
    );
  }

  #childEnded(how: string): void {
    if (this.#child === undefined) return;
    this.#child = undefined;
    this.#send({ type: 'lost', how });
    void this.#sender.sent().then(() => this.#finish());
  }

  async #close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.close();
    await this.#sender.sent();
    this.#finish();
  }

  #finish(): void {
    for (const done of this.#atWork.values()) done();
    for (const answer of this.#claims.values()) answer(false);
    rmSync(this.#keyFolder, { recursive: true, force: true });
    void this.#parts.queue.close().catch(() => undefined);
    this.#end();
  }
}
