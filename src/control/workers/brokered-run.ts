import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { messageOf } from '../../protocol/error.ts';
import { beat } from '../../queue/alive.ts';
import { keyedName } from '../../queue/cipher.ts';
import type { RedisClient } from '../../queue/connect.ts';
import { MessageReceiver, MessageSender } from '../../queue/messages.ts';
import { runStream } from '../../queue/names.ts';
import type { QueueJob } from '../../queue/sealed-job.ts';
import { StreamWriter } from '../../queue/stream.ts';
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

/** Milliseconds to wait for the response to a claim. */
const claimPatience = 30_000;

/** Milliseconds without a message of the control node after which its run is ended in order. */
const silence = 60_000;

type RunParts = {
  readonly jid: string;
  readonly key: Buffer;
  readonly instance: string;
  readonly redis: RedisClient;
  readonly folder: string;
  readonly log: (message: string) => void;
};

/** The hosts of one run on this worker. */
export class BrokeredRun {
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
  #isEnding = false;
  #end: () => void = () => undefined;
  /** Resolves when the run has ended on this worker. */
  readonly over: Promise<void>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { redis, key, jid, instance } = parts;
    const outbox = new StreamWriter(redis, runStream(jid));
    this.#sender = new MessageSender(outbox, key, { jid, instance, to: 'control' });
    this.#receiver = new MessageReceiver(key, { jid, instance, to: 'worker' });
    this.over = new Promise(resolve => {
      this.#end = resolve;
    });
    // In memory if possible: keys of hosts are stored there during the run.
    this.#keyFolder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tsalt-'));
  }

  /** The name of this process in the run. */
  get instance(): string {
    return this.#parts.instance;
  }

  /** It takes no further hosts: the worker joins the run again for them. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Claims a host, and resolves when the work on it is done. */
  async host({ number, version }: QueueJob, own: string): Promise<void> {
    // A job may be in the queue twice.
    if (this.#atWork.has(number)) return;
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
    // Who waits for the current hosts need not wait for one that was denied.
    else this.#atWork.get(number)?.();
    this.#atWork.delete(number);
    // The run has ended, or the job is an old one.
    if (!isGranted && !this.#child && this.#claims.size === 0) this.#finish();
  }

  /** Sends a sign of life if nothing else was; ends the run if the control node is silent. */
  beat(): void {
    this.#sender.sendIfQuiet(encodeMessage({ type: 'alive' }), beat);
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
    this.#isEnding = true;
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
    this.#isEnding = true;
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
    this.#end();
  }
}
