import type { PromptQuestion, Request } from '../../config/request.ts';
import { showError, TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Host, Secret } from '../../protocol/host.ts';
import type { Plain } from '../../protocol/plain.ts';
import { pack } from '../../render/confined/wire.ts';
import { decodeError, encodeError } from '../apart/sent-error.ts';
import type { Mine } from '../facts/shared.ts';
import type { BarrierMember } from '../host/host-run.ts';
import { checkOverride, pillarResponse, readPillarQuestion } from '../host/pillar-response.ts';
import { serveSdb } from '../workers/forwarded-sdb.ts';
import {
  eventOf,
  type FromFleetWorker,
  type SentEvent,
  type WorkerTask,
} from '../workers/messages.ts';
import { type PoolMaker, type PoolWorker, WorkerEnded, type WorkerPool } from '../workers/pool.ts';
import { dictFrom } from '../workers/sent-request.ts';
import { readMineQuestion } from '../workers/worker-mine.ts';
import { newBarrier } from './barrier.ts';
import { HostMine } from './host-mine.ts';
import type { FleetParts, HostRunner } from './host-runs.ts';
import { SegmentWorkers } from './segment-workers.ts';
import { readWorkerAnswer, readWorkerEvent } from './worker-events.ts';
import { namesNone, readWorkerMine, readWorkerQuestion } from './worker-questions.ts';

/** A host that a worker currently runs. */
type InFlight = {
  readonly host: Host;
  readonly worker: PoolWorker;
  readonly gate: BarrierMember | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Questions to the person at the terminal, and to other hosts. */
  asked: number;
  askedOthers: number;
};

/**
 * Runs hosts in other processes: local ones, or remote workers behind a queue. Order, batches,
 * budgets and the barrier stay in the main process, and so do questions to the user.
 */
export class WorkerRuns implements HostRunner {
  readonly #parts: Omit<FleetParts, 'transport'>;
  readonly #pool: WorkerPool;
  readonly #inFlight = new Map<number, InFlight>();
  readonly #enter = newBarrier();
  readonly #mine: Mine;
  readonly #segments: SegmentWorkers;
  readonly #decided = new Set<Host>();
  /** Warnings that do not concern a host: every worker may emit them. */
  readonly #warned = new Set<string>();
  readonly #passphrases = new Map<string, Promise<Secret>>();
  readonly #abort = (): void => this.#pool.abort();
  #next = 1;
  answered = 0;
  hasDrifted = false;

  constructor(parts: Omit<FleetParts, 'transport'>, makePool: PoolMaker) {
    this.#parts = parts;
    const { request, emit } = parts.shared;
    this.#mine =
      parts.shared.mine ??
      new HostMine({ request, emit, inRun: parts.targets.hosts, check: this.askHost });
    this.#pool = makePool({
      hear: (worker, message) => this.#hear(worker, message),
      lost: (worker, how) => this.#lost(worker, how),
    });
    this.#segments = new SegmentWorkers(this.#pool, this.#inFlight);
    parts.signal.addEventListener('abort', this.#abort, { once: true });
    if (parts.signal.aborted) this.#abort();
  }

  /** Ends the workers. */
  async close(): Promise<void> {
    this.#parts.signal.removeEventListener('abort', this.#abort);
    await this.#pool.close();
  }

  async decide(host: Host): Promise<boolean> {
    // The host's run reports why it cannot be asked.
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

  check(host: Host, request: Request): Promise<HostResult | undefined> {
    return this.#call(host, request);
  }

  /** Asks a host for a template of another one. */
  askHost = (host: Host, request: Request): Promise<HostResult | undefined> =>
    this.#call(host, request, request.withoutPillar ? 'early' : 'late');

  async #call(
    host: Host,
    { fun, args, kwargs }: Request,
    asks?: 'early' | 'late',
  ): Promise<HostResult | undefined> {
    const call = { fun, args: pack([...args]), kwargs: pack(kwargs) };
    try {
      const task = { do: 'check', ...call, ...(asks ? { asks } : {}) } as const;
      return (await this.#give(host, task)) as HostResult | undefined;
    } catch (error) {
      return { ...this.#failed(host, error), fun };
    }
  }

  #lost(worker: PoolWorker, how: string): void {
    for (const [id, run] of [...this.#inFlight])
      if (run.worker === worker) {
        this.#inFlight.delete(id);
        run.reject(new WorkerEnded(how));
      }
  }

  /** Sends a host to a worker, and returns the worker's response. */
  async #give(host: Host, task: WorkerTask, gate?: BarrierMember): Promise<unknown> {
    const { shared, targets } = this.#parts;
    const { raw } = shared.request;
    const id = this.#next;
    this.#next += 1;
    const isAsked = task.do === 'check' && task.asks !== undefined;
    const own = isAsked ? this.#segments.atWorkFor(host) : undefined;
    const worker =
      own ?? (await (isAsked ? this.#segments.take(host, id) : this.#pool.take(host, id)));
    try {
      const given = new Promise((resolve, reject) => {
        this.#inFlight.set(id, { host, worker, gate, resolve, reject, asked: 0, askedOthers: 0 });
      });
      this.#segments.began(host, worker);
      worker.send({
        type: 'host',
        id,
        task,
        host: worker.sendHost(host),
        ...(raw === undefined ? {} : { raw: typeof raw === 'string' ? raw : raw(host) }),
        planned: shared.request.planned?.runOf(host.id),
        isUndecided: targets.undecided.has(host),
        isDecided: this.#decided.has(host),
      });
      const value = await given;
      return worker.isElsewhere && task.do === 'check' ? readWorkerAnswer(value) : value;
    } finally {
      this.#inFlight.delete(id);
      if (!own) this.#pool.left(worker);
    }
  }

  #hear(worker: PoolWorker, message: FromFleetWorker): void {
    if (message.type === 'event') this.#event(worker, message);
    else if (message.type === 'ask') this.#answer(worker, message);
    else {
      const run = this.#inFlight.get(message.id);
      if (run?.worker !== worker) return;
      if (message.type === 'gate') this.#gate(message, run);
      else {
        this.#inFlight.delete(message.id);
        if (message.type === 'done') run.resolve(message.value);
        else run.reject(decodeError(message.fault));
      }
    }
  }

  #event(worker: PoolWorker, message: SentEvent): void {
    const event = worker.isElsewhere ? this.#read(worker, message) : eventOf(message);
    if (event === undefined) return;
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

  /** Reads an event of a worker elsewhere. One that sends what it must not loses its hosts. */
  #read(worker: PoolWorker, message: SentEvent): RunEvent | undefined {
    try {
      const event = readWorkerEvent(message);
      return this.#isAbout(worker, event) ? event : undefined;
    } catch (error) {
      for (const [id, run] of [...this.#inFlight])
        if (run.worker === worker) {
          this.#inFlight.delete(id);
          run.reject(error);
        }
      return undefined;
    }
  }

  /** A worker elsewhere speaks of the hosts that it works for, and of no others. */
  #isAbout(worker: PoolWorker, event: RunEvent): boolean {
    const id = event.type === 'host' ? event.result.id : 'host' in event ? event.host : undefined;
    if (id === undefined) return event.type === 'log';
    return [...this.#inFlight.values()].some(run => run.worker === worker && run.host.id === id);
  }

  #gate({ id, step }: FromFleetWorker & { readonly type: 'gate' }, run: InFlight): void {
    if (step === 'connected') run.gate?.connected();
    else void run.gate?.ready().then(() => run.worker.send({ type: 'go', id }));
  }

  #answer(
    worker: PoolWorker,
    { id, method, params }: FromFleetWorker & { readonly type: 'ask' },
  ): void {
    this.#ask(worker, method, params).then(
      value => worker.send({ type: 'answer', id, answer: { value } }),
      error => worker.send({ type: 'answer', id, answer: { fault: encodeError(error) } }),
    );
  }

  async #ask(worker: PoolWorker, method: string, params: readonly unknown[]): Promise<unknown> {
    const { shared } = this.#parts;
    const { request } = shared;
    if (method === 'ask') return (await this.#askPerson(worker, params[0])).reveal();
    // A worker elsewhere may know its own hosts only, and nothing that these do not need.
    if ((method === 'sdb' || method === 'vault') && !worker.isElsewhere)
      return serveSdb(request.sdb, method, params);
    if (method === 'mine') return [...(await this.#askOthers(worker, params))];
    const host = [...this.#inFlight.values()].find(
      run => run.worker === worker && run.host.id === params[0],
    )?.host;
    if (method === 'prepare' && host) return worker.sendHost(await request.prepareHost(host));
    if (method === 'pillar' && host) {
      const question = readPillarQuestion(params[1], dictFrom);
      if (worker.isElsewhere) checkOverride(question.settings, request);
      const answer = await pillarResponse({ ...shared, mine: this.#mine }, host, question);
      return 'pillar' in answer ? { pillar: pack(answer.pillar) } : answer;
    }
    throw new TsaltError('internal', `A worker asked for ${method}.`, { kind: 'internal' });
  }

  async #askOthers(
    worker: PoolWorker,
    params: readonly unknown[],
  ): Promise<ReadonlyMap<string, Plain>> {
    if (!worker.isElsewhere) return this.#mine.ask(readMineQuestion(params[1]));
    const question = readWorkerMine(params, this.#runsOf(worker));
    const { emit } = this.#parts.shared;
    return this.#mine.ask(question).catch((error: unknown) => {
      throw namesNone(error, question, emit);
    });
  }

  #runsOf(worker: PoolWorker): InFlight[] {
    return [...this.#inFlight.values()].filter(run => run.worker === worker);
  }

  /**
   * The passphrase of a key is asked once in a run, whichever process reads the key. Workers
   * elsewhere get no answer that was given to another one.
   */
  #askPerson(worker: PoolWorker, asked: unknown): Promise<Secret> {
    const { request } = this.#parts.shared;
    if (worker.isElsewhere) return request.ask(readWorkerQuestion(asked, this.#runsOf(worker)));
    const question = asked as PromptQuestion;
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
      ? `${id}: its worker process ended before its run did (${error.message}). The changes that the host made until then remain; run it again.`
      : `${id}: ${error instanceof Error ? error.message : String(error)}`;
    const known = error instanceof TsaltError ? error : undefined;
    const code = isEnded ? 'worker-ended' : (known?.code ?? 'internal');
    const failure = {
      kind: known?.kind ?? ('internal' as const),
      code,
      message: known ? showError(known) : message,
    };
    return { id, fun, retcode: 1, failure };
  }
}
