import { setMaxListeners } from 'node:events';
import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import { type Host, Secret } from '../../protocol/host.ts';
import type { Plain } from '../../protocol/plain.ts';
import type { BoundRun } from '../../protocol/plan.ts';
import { pack } from '../../render/confined/wire.ts';
import { boundedTest } from '../../render/filters/python-regex.ts';
import { tryRegExpsBy } from '../../targeting/python-regex.ts';
import { openTransport } from '../../transport/open-transport.ts';
import type { Transport } from '../../transport/transport.ts';
import { reportUnwritableCaches } from '../../trust/spare-cache.ts';
import { decodeError, encodeError } from '../apart/sent-error.ts';
import type { AskPillar } from '../facts/shared.ts';
import type { BarrierMember } from '../host/host-run.ts';
import { type HostRequest, requestKey } from '../host/pillar-response.ts';
import { transportOptions } from '../host/transport-options.ts';
import { ForwardedSdb } from '../workers/forwarded-sdb.ts';
import {
  decodeMessage,
  encodeMessage,
  eventMessage,
  type FromFleetWorker,
  type ToFleetWorker,
  type WorkerResponse,
  type WorkerTask,
} from '../workers/messages.ts';
import {
  dictFrom,
  listFrom,
  receiveHost,
  receiveRequest,
  type SentHost,
  type SentRequest,
} from '../workers/sent-request.ts';
import { WorkerMine } from '../workers/worker-mine.ts';
import { boundGarbage } from './bound-garbage.ts';
import { HostRuns } from './host-runs.ts';
import { shareRequest } from './run.ts';
import { pickTargets, type Targets } from './targets.ts';

/**
 * Works for another process of this program, which sends hosts over the channel of `fork`. Ends
 * with that process.
 */
export const serveWorker = (): void => {
  const queue: string[] = [];
  const flush = (): void => {
    if (process.connected) process.send?.(queue.splice(0), undefined, undefined, () => undefined);
  };
  // Messages of the same moment share one message of the channel.
  const send = (message: FromFleetWorker): void => {
    if (queue.push(encodeMessage(message)) === 1) setImmediate(flush);
  };
  const end = (): void => {
    if (queue.length > 0) flush();
    process.disconnect?.();
  };
  const worker = new FleetWorker(send, end);
  process.on('message', texts => {
    for (const text of texts as readonly string[])
      worker.receive(decodeMessage(text) as ToFleetWorker);
  });
  // Ctrl-C at the terminal reaches this process, too; the main process decides what happens.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => worker.over());
};

/** Milliseconds for closing connections after the run. */
const patience = 1000;

type Question = { resolve: (value: unknown) => void; reject: (error: unknown) => void };

class FleetWorker {
  readonly #send: (message: FromFleetWorker) => void;
  readonly #end: () => void;
  readonly #stop = new AbortController();
  readonly #questions = new Map<number, Question>();
  readonly #gates = new Map<number, () => void>();
  readonly #commands = new Map<string, string>();
  readonly #plans = new Map<string, BoundRun>();
  readonly #numbers = new Map<Host, number>();
  readonly #undecided = new Set<Host>();
  readonly #mine = new WorkerMine((method, params) => this.#ask(method, params));
  #next = 1;
  #isOver = false;
  #parts: { runs: HostRuns; request: Request; transport: Transport } | undefined;

  constructor(send: (message: FromFleetWorker) => void, end: () => void) {
    this.#send = send;
    this.#end = end;
  }

  receive(message: ToFleetWorker): void {
    if (message.type === 'begin') this.#begin(message.request, message.hosts);
    else if (message.type === 'host') void this.#host(message);
    else if (message.type === 'go') this.#gates.get(message.id)?.();
    else if (message.type === 'answer') this.#answered(message.id, message.answer);
    else if (message.type === 'abort') this.#stop.abort();
    else if (message.type === 'end') {
      this.#isOver = true;
      this.#parts?.transport.close();
      this.#end();
    }
  }

  /** Called when the channel closes: after the run, or because the other process has ended. */
  over(): void {
    if (!this.#isOver) process.exit(0);
    setTimeout(() => process.exit(0), patience).unref();
  }

  #begin(sent: SentRequest, hosts: number): void {
    tryRegExpsBy(boundedTest);
    boundGarbage(hosts);
    setMaxListeners(0, this.#stop.signal);
    const emit = (event: RunEvent): void => this.#send(eventMessage(event));
    const request = receiveRequest(sent, isSdbUsed => ({
      sdb: new ForwardedSdb(isSdbUsed, this.#ask),
      ask: async question => new Secret(String(await this.#ask('ask', [question]))),
      prepareHost: async ({ id }) => receiveHost((await this.#ask('prepare', [id])) as SentHost),
      raw: ({ id }) => this.#commands.get(id) ?? '',
      runOf: id => this.#plans.get(id),
    }));
    reportUnwritableCaches(request.config.cachedir, text =>
      emit({ type: 'log', level: 'warning', module: 'cache', message: text }),
    );
    const shared = {
      ...shareRequest(request, emit),
      mine: this.#mine,
      ...(sent.isElsewhere ? { askPillar: this.#askPillar } : {}),
    };
    const transport = openTransport(transportOptions(request, emit));
    const targets: Targets = { ...pickTargets(request), undecided: this.#undecided };
    const runs = new HostRuns({
      shared,
      transport,
      targets,
      signal: this.#stop.signal,
      enter: host => this.#gate(this.#numbers.get(host) ?? 0),
    });
    this.#parts = { runs, request, transport };
  }

  async #host(message: ToFleetWorker & { readonly type: 'host' }): Promise<void> {
    const { id, task, raw, planned } = message;
    const host = receiveHost(message.host);
    if (task.do === 'check' && task.asks) return this.#asked(id, host, task);
    this.#numbers.set(host, id);
    if (raw !== undefined) this.#commands.set(host.id, raw);
    if (planned) this.#plans.set(host.id, planned);
    if (message.isUndecided) this.#undecided.add(host);
    this.#gates.set(id, () => undefined);
    try {
      if (!this.#parts) throw new TsaltError('internal', 'A host came before its request.');
      const { runs, request } = this.#parts;
      if (message.isDecided) runs.isDecided(host);
      const { raw: _, ...rest } = request;
      const value =
        task.do === 'check'
          ? await runs.check(host, {
              ...rest,
              fun: task.fun,
              args: listFrom(task.args),
              kwargs: dictFrom(task.kwargs),
            })
          : await runs[task.do](host);
      this.#send({ type: 'done', id, value });
    } catch (error) {
      this.#send({ type: 'failed', id, fault: encodeError(error) });
    } finally {
      this.#gates.delete(id);
      this.#numbers.delete(host);
      this.#undecided.delete(host);
      this.#commands.delete(host.id);
      this.#plans.delete(host.id);
    }
  }

  /** Calls a function of a host for a template of another one. */
  async #asked(id: number, host: Host, task: WorkerTask & { readonly do: 'check' }): Promise<void> {
    const { fun, asks } = task;
    const [args, isEarly] = [listFrom(task.args), asks === 'early'];
    try {
      if (!this.#parts) throw new TsaltError('internal', 'A host came before its request.');
      const { runs, request } = this.#parts;
      const value = await this.#mine.answer(host.id, fun, args, isEarly);
      const { raw: _, planned: __, ...rest } = request;
      const { guard: ___, batchCheck: ____, ...options } = request.options;
      const early = isEarly ? { withoutPillar: true } : {};
      const called = { ...rest, ...early, fun, args, kwargs: dictFrom(task.kwargs), options };
      const result: HostResult | undefined =
        value === undefined
          ? await runs.check(host, called)
          : { id: host.id, fun, value, retcode: 0 };
      this.#send({ type: 'done', id, value: result });
    } catch (error) {
      this.#send({ type: 'failed', id, fault: encodeError(error) });
    }
  }

  #gate(id: number): BarrierMember {
    return {
      connected: () => this.#send({ type: 'gate', id, step: 'connected' }),
      ready: () =>
        new Promise(resolve => {
          this.#gates.set(id, resolve);
          this.#send({ type: 'gate', id, step: 'ready' });
        }),
      // The main process learns it from the result.
      leave: () => undefined,
    };
  }

  #ask = (method: string, params: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = this.#next;
      this.#next += 1;
      this.#questions.set(id, { resolve, reject });
      this.#send({ type: 'ask', id, method, params });
    });

  /**
   * Asks for a pillar, and answers the requests of its templates to the host, until it is complete.
   */
  #askPillar: AskPillar = async (host, { grains, settings: { override, ...rest } }, call) => {
    const settings = { ...rest, ...(override ? { override: pack(override) } : {}) };
    const answers: Record<string, Plain> = {};
    for (;;) {
      const question = { grains, ...settings, answers };
      const answer = (await this.#ask('pillar', [host, question])) as
        | { readonly pillar: string }
        | { readonly needs: HostRequest };
      if ('pillar' in answer) return dictFrom(answer.pillar);
      const { method, params } = answer.needs;
      answers[requestKey(answer.needs)] = await call(method, params);
    }
  };

  #answered(id: number, answer: WorkerResponse): void {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    if ('fault' in answer) question?.reject(decodeError(answer.fault));
    else question?.resolve(answer.value);
  }
}
