import type { Request } from '../../config/request.ts';
import type { Ranges } from '../../data/taint.ts';
import { toData, toDict } from '../../data/values/value.ts';
import { messageOf, showError, TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type {
  EventsSeen,
  EventWait,
  NestedOrchestration,
  OrchestrationStep,
  StepReturn,
  StepReturns,
} from '../../protocol/orchestration.ts';
import { type Plain, setOwn } from '../../protocol/plain.ts';
import type { StateResult, StateResults } from '../../protocol/result.ts';
import { TaintTable } from '../../render/taint/taint-table.ts';
import type { Conductor, TaintOf } from '../facts/shared.ts';
import { checkCall } from '../prepare/check-call.ts';
import type { OrchestrationRecord } from './orchestration-record.ts';
import {
  allStringsIn,
  batchSize,
  compiledOnly,
  isErrors,
  noTaint,
  plannedStep,
  refuseTainted,
  refuseTaintedString,
  returnOf,
  targetTypeOf,
} from './orchestration-steps.ts';
import { StepEvents } from './step-events.ts';
import { StepPlans } from './step-plans.ts';
import { pickTargets, unknownNames } from './targets.ts';

/** Runs a request on its hosts: `runFleet` with the connections of the orchestration. */
type RunHosts = (request: Request, emit: (event: RunEvent) => void) => Promise<void>;

export type OrchestrationParts = {
  /** The request for the orchestration itself. */
  readonly request: Request;
  readonly emit: (event: RunEvent) => void;
  readonly signal: AbortSignal;
  readonly runHosts: RunHosts;
  readonly modules: () => Promise<readonly ModuleMeta[]>;
  readonly isTest: boolean;
  /** The steps that have finished, for `--resume`. */
  readonly record: OrchestrationRecord;
};

/** Orchestrations within orchestrations. */
const deepest = 8;

/**
 * Carries out the steps of one orchestration. Each step is a run of its own on hosts of the roster,
 * over connections that all steps share.
 */
export class Orchestration implements Conductor {
  readonly #parts: OrchestrationParts;
  readonly #returns = new Map<string, StepReturns>();
  readonly #events = new StepEvents();
  readonly tainted = [];
  readonly #heard: TaintTable;
  readonly #plans: StepPlans;

  constructor(parts: OrchestrationParts) {
    this.#parts = parts;
    this.#heard = new TaintTable(parts.request.target);
    this.#plans = new StepPlans(parts.request, parts.emit);
    for (const [id, returns] of parts.record.returns) this.#returns.set(id, returns);
  }

  get depth(): number {
    return (this.#parts.request.steps?.depth ?? 0) + 1;
  }

  of = (id: string): StepReturns | undefined =>
    this.#returns.get(id) ?? this.#parts.request.steps?.of(id);

  missed = (): void => undefined;

  get isTest(): boolean {
    return this.#parts.isTest || this.#plans.isRehearsal;
  }

  hear = (said: Plain, source: string): void => this.#heard.hear(said, source);

  /**
   * Finds data that hosts of steps sent. The grains of this machine are trusted: an SLS may have
   * the name of one of them.
   */
  #ofSteps =
    (known: TaintOf): TaintOf =>
    text => {
      const heard = this.#heard.of(text);
      if (heard) return heard;
      const made = known(text);
      return made?.some(({ source }) => source.startsWith('result of ')) ? made : undefined;
    };

  run = async (given: OrchestrationStep, known: TaintOf): Promise<StepReturns> => {
    const plans = this.#plans;
    const step = plans.inTest(given);
    const taintOf = this.#ofSteps(known);
    refuseTainted(step, taintOf);
    const missed = new Map<string, string>();
    const asked = this.#requestOf(step, missed, taintOf);
    const request = plans.bound(step, asked) ?? (await this.#subset(asked, step));
    const returns: Record<string, StepReturn> = plans.differing(step);
    for (const name of unknownNames(request))
      setOwn(returns, name, { ret: false, retcode: 1, failed: 'The roster has no such host.' });
    await this.#onHosts(request, { step: step.id, ...plans.tagOf(step) }, event => {
      if (event.type === 'host') {
        setOwn(returns, event.result.id, returnOf(event.result, missed));
        plans.compared(step, event.result);
      }
      if (event.type === 'not-started')
        for (const host of event.hosts)
          setOwn(returns, host, { ret: false, retcode: 1, failed: event.reason });
    });
    this.#returns.set(step.id, returns);
    plans.predicted(step, returns, missed);
    return returns;
  };

  wait = (wait: EventWait): Promise<EventsSeen> => this.#events.wait(wait, this.#parts.signal);

  nested = async (
    given: NestedOrchestration,
    known: TaintOf,
  ): Promise<{ readonly success: boolean; readonly value: Plain }> => {
    const { tag, fun, kwarg } = this.#plans.inTest(given);
    const { planned: _, ...request } = this.#parts.request;
    const taintOf = this.#ofSteps(known);
    if (this.depth >= deepest)
      throw new TsaltError(
        'orchestrate-depth',
        `${fun}: orchestrations call each other more than ${deepest} levels deep.`,
      );
    refuseTaintedString(`${fun} in ${tag}`, [kwarg.mods, kwarg.saltenv, kwarg.pillarenv], taintOf);
    let result: HostResult | undefined;
    const { resume: __, plan: ___, selection: ____, ...options } = request.options;
    const nested: Request = {
      ...request,
      fun: 'state.orchestrate',
      args: [],
      kwargs: toDict(kwarg),
      options,
      steps: { ...this.#stepsFor(new Map(), [kwarg], taintOf), depth: this.depth },
    };
    await this.#onHosts(nested, { step: tag }, event => {
      if (event.type === 'host') result = event.result;
    });
    const success = result?.retcode === 0 && result.failure === undefined;
    const data = result?.states ?? result?.value ?? result?.failure?.message ?? null;
    return {
      success,
      value: {
        outputter: 'highstate',
        data: { [result?.id ?? '']: data as Plain },
        retcode: success ? 0 : 1,
      },
    };
  };

  /** Records a state of the orchestration that has ended, for `--resume`. */
  ended(tag: string, result: StateResult): void {
    const returns = this.#returns.get(String(result.__id__));
    this.#parts.record.ended(tag, result, returns);
  }

  finished = (chunks: readonly LowChunk[], all = chunks): StateResults =>
    this.#parts.record.begin(chunks, all);

  prepare = async (chunks: readonly LowChunk[], isTest: boolean): Promise<readonly string[]> => {
    const faults: string[] = [];
    const done = this.#parts.record.finished(chunks);
    for (const chunk of chunks) {
      if (chunk.state !== 'salt' || Object.hasOwn(done, lowTag(chunk))) continue;
      const step = plannedStep(chunk, isTest);
      if (step) faults.push(...(await this.#check(step, chunk)));
      else this.#plans.prepared(chunk, []);
    }
    return faults;
  };

  rehearse = async <T>(work: () => Promise<T>): Promise<T> => {
    const returns = [...this.#returns];
    try {
      return await this.#plans.rehearse(work);
    } finally {
      this.#returns.clear();
      for (const [id, returned] of returns) this.#returns.set(id, returned);
    }
  };

  refuseDrift = (): void => this.#plans.refuseDrift();

  /** Resolves the target of a step, and compiles its states on the hosts that answer. */
  async #check(step: OrchestrationStep, chunk: LowChunk): Promise<string[]> {
    const { emit, modules } = this.#parts;
    if (this.#plans.of(step)) return [];
    const missed = new Map<string, string>();
    const where = `Step '${step.id}' (${chunk.__sls__})`;
    const faults = new Map<string, string[]>();
    try {
      const request = this.#requestOf(step, missed, noTaint);
      const { hosts, undecided } = pickTargets(request);
      this.#plans.prepared(
        chunk,
        hosts.filter(host => !undecided.has(host)).map(({ id }) => id),
        undecided.size > 0 && chunk.fun === 'function' ? 'grains decide on its hosts' : undefined,
      );
      if (hosts.length === 0 && undecided.size === 0) {
        if (chunk.expect_minions === false) return [];
        return [`${where}: no host of the roster matches the target '${request.target}'.`];
      }
      if (chunk.fun === 'function') {
        checkCall(step.fun, request.args, request.kwargs, await modules());
        return [];
      }
      const compiling = compiledOnly(request);
      if (!compiling) return [];
      await this.#onHosts(compiling, { step: step.id }, event => {
        if (event.type !== 'host') return;
        const { id, failure, retcode, value } = event.result;
        const needed = missed.get(id);
        const why = failure?.message.split('\n')[0] ?? '';
        if (needed !== undefined)
          this.#log('info', `${where} is compiled on ${id} when '${needed}' has finished.`);
        else if (failure && failure.kind !== 'render')
          this.#log('warning', `${where} could not be checked on ${id}: ${why}`);
        else if (failure || retcode !== 0 || isErrors(value)) {
          const text = failure?.message ?? [value].flat().map(String).join('\n');
          faults.set(text, [...(faults.get(text) ?? []), id]);
        }
      });
    } catch (error) {
      if (!(error instanceof TsaltError)) throw error;
      return [`${where}: ${messageOf(error)}`];
    }
    if (faults.size === 0) emit({ type: 'phase', host: this.#own, phase: 'render' });
    return [...faults].map(
      ([text, hosts]) => `${where} does not compile on ${hosts.join(', ')}:\n${text}`,
    );
  }

  /** The id of this machine in the run. */
  get #own(): string {
    return this.#parts.request.target;
  }

  /** Runs a request on hosts: its events are those of a step. */
  async #onHosts(
    request: Request,
    about: { readonly step: string; readonly tag?: string },
    follow: (event: RunEvent) => void,
  ): Promise<void> {
    const { runHosts, emit } = this.#parts;
    try {
      await runHosts(request, event => {
        if (event.type === 'event') this.#events.sent(event);
        follow(event);
        if (event.type === 'log') emit(event);
        else if (this.#plans.isRehearsal) return;
        else if (event.type === 'step') emit(event);
        else emit({ type: 'step', ...about, event });
      });
    } catch (error) {
      if (error instanceof TsaltError && error.code === 'no-target') return;
      throw error instanceof TsaltError
        ? error
        : new TsaltError('step', showError(error), { cause: error });
    }
  }

  #log(level: 'info' | 'warning', message: string): void {
    this.#parts.emit({ type: 'log', level, module: 'orchestrate', message });
  }

  #requestOf(
    { tgt, tgt_type, fun, arg, kwarg, batch, failhard, timeout }: OrchestrationStep,
    missed: Map<string, string>,
    taintOf: TaintOf,
  ): Request {
    const { planned: _, ...request } = this.#parts.request;
    const own = this.#own;
    const {
      test: __,
      guard,
      dryRun: ___,
      resume: ____,
      selection: _____,
      ...options
    } = request.options;
    const isState = fun.startsWith('state.');
    return {
      ...request,
      target: typeof tgt === 'string' ? tgt : tgt.join(','),
      targetType: typeof tgt === 'string' ? targetTypeOf(tgt_type) : 'list',
      delimiter: ':',
      fun,
      args: arg.map(toData),
      kwargs: toDict(kwarg),
      hosts: request.hosts.filter(({ id }) => id !== own),
      steps: this.#stepsFor(missed, [[...arg], kwarg], taintOf),
      options: {
        ...options,
        ...(isState && typeof kwarg.test === 'boolean' ? { test: kwarg.test } : {}),
        ...(isState && guard !== undefined ? { guard } : {}),
        ...(batch === undefined ? {} : { batch: [batchSize(batch)] }),
        ...(timeout === undefined ? {} : { timeout }),
        failhard: options.failhard || failhard === true,
        dryRun: false,
      },
    };
  }

  #stepsFor(
    missed: Map<string, string>,
    given: Plain,
    taintOf: TaintOf,
  ): NonNullable<Request['steps']> {
    const tainted: { text: string; ranges: Ranges }[] = [];
    for (const text of allStringsIn(given)) {
      const ranges = taintOf(text);
      if (ranges) tainted.push({ text, ranges });
    }
    return {
      depth: this.depth,
      of: this.of,
      isTest: this.isTest,
      missed: (host, id) => void missed.set(host, id),
      tainted: [...tainted, ...(this.#parts.request.steps?.tainted ?? [])],
    };
  }

  /** Narrows a request to some of its hosts, chosen at random. */
  async #subset(request: Request, { subset, id }: OrchestrationStep): Promise<Request> {
    if (subset === undefined || subset <= 0) return request;
    const random = { ...request, options: { ...request.options, order: 'random' as const } };
    const { hosts, undecided } = pickTargets(random);
    const certain = hosts.filter(host => !undecided.has(host));
    const chosen =
      undecided.size === 0 ? certain.map(host => host.id) : await this.#matching(random, id);
    return { ...request, target: chosen.slice(0, subset).join(','), targetType: 'list' };
  }

  /** Asks hosts whose grains decide whether they match. */
  async #matching(request: Request, step: string): Promise<string[]> {
    const found: string[] = [];
    const asking = { ...request, fun: 'test.ping', args: [], kwargs: new Map() };
    await this.#onHosts(asking, { step }, event => {
      if (event.type === 'host' && event.result.failure === undefined) found.push(event.result.id);
    });
    return found;
  }
}
