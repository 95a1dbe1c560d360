import type { PromptQuestion, Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult } from '../../protocol/event.ts';
import type { Host, Secret } from '../../protocol/host.ts';
import { pack } from '../../render/confined/wire.ts';
import { receivedFault, sentFault } from '../apart/faults.ts';
import type { Gate } from '../host/host-run.ts';
import { answerSdb } from '../workers/forwarded-sdb.ts';
import {
  eventOf,
  type FromFleetWorker,
  type SentEvent,
  type WorkerTask,
} from '../workers/messages.ts';
import { sendHost, sendRequest } from '../workers/sent-request.ts';
import { canStartWorkers, WorkerLink } from '../workers/worker-link.ts';
import { newBarrier } from './barrier.ts';
import type { FleetParts, HostRunner } from './host-runs.ts';

/** A host that a worker works for. */
type InFlight = {
  readonly host: Host;
  readonly worker: WorkerLink;
  readonly gate: Gate | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** A worker ended while it worked for a host. */
class WorkerEnded extends Error {}

/**
 * Runs hosts in processes of this machine. Order, batches, budgets and the barrier are those of one
 * process: they stay here, and so do questions to the person at the terminal.
 */
export class WorkerRuns implements HostRunner {
  readonly #parts: Omit<FleetParts, 'transport'>;
  readonly #workers: WorkerLink[] = [];
  readonly #inFlight = new Map<number, InFlight>();
  readonly #enter = newBarrier();
  readonly #decided = new Set<Host>();
  /** Warnings about no host, which every worker may have. */
  readonly #warned = new Set<string>();
  readonly #passphrases = new Map<string, Promise<Secret>>();
  readonly #abort = (): void => {
    for (const worker of this.#workers) worker.send({ type: 'abort' });
  };
  #next = 1;
  #replacements: number;
  #isClosing = false;
  answered = 0;
  hasDrifted = false;

  /**
   * Starts the workers.
   *
   * @throws TsaltError `workers` where the program cannot start itself
   */
  constructor(parts: Omit<FleetParts, 'transport'>, count: number) {
    if (!canStartWorkers())
      throw new TsaltError('workers', 'Only the built command line can start worker processes.', {
        hint: 'Leave --workers out.',
      });
    this.#parts = parts;
    this.#replacements = count;
    for (let at = 0; at < count; at += 1) this.#start();
    parts.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Ends the workers. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#parts.signal.removeEventListener('abort', this.#abort);
    await Promise.all(this.#workers.map(worker => worker.close()));
  }

  async decide(host: Host): Promise<boolean> {
    // The run of the host reports why it cannot be asked.
    return this.#give(host, { do: 'decide' }).then(Boolean, () => true);
  }

  isDecided(host: Host): void {
    this.#decided.add(host);
  }

  one = async (host: Host): Promise<boolean> => {
    const gate = this.#enter();
    try {
      return (await this.#give(host, { do: 'one' }, gate)) === true;
    } catch (error) {
      const { emit } = this.#parts.shared;
      emit({ type: 'phase', host: host.id, phase: 'done' });
      this.answered += 1;
      emit({ type: 'host', result: this.#failed(host, error) });
      return false;
    } finally {
      gate.leave();
    }
  };

  async check(host: Host, { fun, args, kwargs }: Request): Promise<HostResult | undefined> {
    const task = { do: 'check', fun, args: pack([...args]), kwargs: pack(kwargs) } as const;
    try {
      return (await this.#give(host, task)) as HostResult | undefined;
    } catch (error) {
      return { ...this.#failed(host, error), fun };
    }
  }

  #start(): void {
    const { shared, targets, signal } = this.#parts;
    const { request } = shared;
    const worker: WorkerLink = new WorkerLink(request.fun, message => this.#hear(worker, message));
    this.#workers.push(worker);
    worker.send({ type: 'begin', request: sendRequest(request), hosts: targets.hosts.length });
    if (signal.aborted) worker.send({ type: 'abort' });
    void worker.ended.then(how => this.#lost(worker, how));
  }

  #lost(worker: WorkerLink, how: string): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    if (this.#isClosing) return;
    this.#replacements -= 1;
    if (this.#replacements >= 0) this.#start();
    for (const [id, run] of [...this.#inFlight])
      if (run.worker === worker) {
        this.#inFlight.delete(id);
        run.reject(new WorkerEnded(how));
      }
  }

  /** Gives a host to the worker with the fewest hosts, and returns its answer. */
  #give(host: Host, task: WorkerTask, gate?: Gate): Promise<unknown> {
    const [worker] = this.#workers
      .filter(({ isAlive }) => isAlive)
      .sort((one, other) => one.load - other.load);
    if (!worker) return Promise.reject(new WorkerEnded('none is left'));
    const { shared, targets } = this.#parts;
    const { raw } = shared.request;
    const id = this.#next;
    this.#next += 1;
    worker.load += 1;
    const given = new Promise((resolve, reject) => {
      this.#inFlight.set(id, { host, worker, gate, resolve, reject });
    });
    worker.send({
      type: 'host',
      id,
      task,
      host: sendHost(host),
      ...(raw === undefined ? {} : { raw: typeof raw === 'string' ? raw : raw(host) }),
      planned: shared.request.planned?.runOf(host.id),
      isUndecided: targets.undecided.has(host),
      isDecided: this.#decided.has(host),
    });
    return given.finally(() => {
      worker.load -= 1;
    });
  }

  #hear(worker: WorkerLink, message: FromFleetWorker): void {
    if (message.type === 'event') this.#event(message);
    else if (message.type === 'ask') this.#answer(worker, message);
    else {
      const run = this.#inFlight.get(message.id);
      if (message.type === 'gate') this.#gate(message, run);
      else {
        this.#inFlight.delete(message.id);
        if (message.type === 'done') run?.resolve(message.value);
        else run?.reject(receivedFault(message.fault));
      }
    }
  }

  #event(message: SentEvent): void {
    const event = eventOf(message);
    if (event.type === 'host') {
      this.answered += 1;
      if (event.result.failure?.kind === 'drift') this.hasDrifted = true;
    }
    if (event.type === 'log' && event.host === undefined) {
      const text = `${event.module}\0${event.message}`;
      if (event.level !== 'debug' && this.#warned.has(text)) return;
      this.#warned.add(text);
    }
    this.#parts.shared.emit(event);
  }

  #gate(
    { id, step }: FromFleetWorker & { readonly type: 'gate' },
    run: InFlight | undefined,
  ): void {
    if (!run) return;
    if (step === 'connected') run.gate?.connected();
    else void run.gate?.ready().then(() => run.worker.send({ type: 'go', id }));
  }

  #answer(
    worker: WorkerLink,
    { id, method, params }: FromFleetWorker & { readonly type: 'ask' },
  ): void {
    this.#ask(method, params).then(
      value => worker.send({ type: 'answer', id, answer: { value } }),
      error => worker.send({ type: 'answer', id, answer: { fault: sentFault(error) } }),
    );
  }

  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const { request } = this.#parts.shared;
    if (method === 'sdb' || method === 'vault') return answerSdb(request.sdb, method, params);
    if (method === 'ask') return (await this.#askPerson(params[0] as PromptQuestion)).reveal();
    const host = [...this.#inFlight.values()].find(run => run.host.id === params[0])?.host;
    if (method === 'prepare' && host) return sendHost(await request.prepareHost(host));
    throw new TsaltError('internal', `A worker asked for ${method}.`, { kind: 'internal' });
  }

  /** The passphrase of a key is asked once in a run, whichever worker reads the key. */
  #askPerson(question: PromptQuestion): Promise<Secret> {
    const { request } = this.#parts.shared;
    if (question.what !== 'passphrase') return request.ask(question);
    const known = this.#passphrases.get(question.prompt);
    const answer = known ?? request.ask(question);
    this.#passphrases.set(question.prompt, answer);
    return answer;
  }

  #failed({ id }: Host, error: unknown): HostResult {
    const { fun } = this.#parts.shared.request;
    const isEnded = error instanceof WorkerEnded;
    const message = isEnded
      ? `${id}: its worker process ended before its run did (${error.message}). What the host had done until then stands; run it again.`
      : `${id}: ${error instanceof Error ? error.message : String(error)}`;
    const code = isEnded ? 'worker-ended' : 'internal';
    return { id, fun, retcode: 1, failure: { kind: 'internal', code, message } };
  }
}
