import { requisiteEdges } from '../../compiler/requisite-edges.ts';
import type { Request } from '../../config/request.ts';
import { pauseIfLong } from '../../data/pause.ts';
import { mayBeCalled } from '../../data/signatures/module-names.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RequisiteGraph } from '../../protocol/event.ts';
import type {
  OutputPiece,
  Restart,
  Resume,
  RunParams,
  RunResult,
  StateFinished,
  StateStarted,
} from '../../protocol/job.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { setOwn } from '../../protocol/plain.ts';
import { type PlannedJob, planOption } from '../../protocol/plan.ts';
import type { StateResults } from '../../protocol/result.ts';
import type { RollbackParams } from '../../protocol/rollback.ts';
import { readable } from '../../transport/unreachable.ts';
import type { RunOutcome, RunSettings } from '../../wrapper/context.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { runOpts } from '../facts/host-opts.ts';
import type { HostPillar } from '../pillar/host-pillar.ts';
import { bindChunks } from '../prepare/bind-chunks.ts';
import { checkFunctions } from '../prepare/check-functions.ts';
import { needNoGrains } from '../prepare/grainless-chunks.ts';
import { lostRequisites } from '../prepare/lost-requisites.ts';
import { checkSources, plannedJob } from '../prepare/planned-job.ts';
import { type RenderAhead, RunPrefetch } from '../prepare/prefetch.ts';
import type { FileRefs } from '../serve/file-refs.ts';
import type { HostCalls } from '../serve/host-calls.ts';
import type { HostFunctions } from '../serve/host-functions.ts';
import { OutputLimiter } from '../serve/output-limiter.ts';
import type { RenderRefs } from '../serve/render-refs.ts';
import { readRan } from '../serve/reported-events.ts';
import { rollbackParams, rollbackPaths } from './confirm-rollback.ts';

/** The dependencies of a run of states. */
export type StatesParts = {
  readonly facts: HostFacts;
  readonly pillar: HostPillar;
  readonly calls: HostCalls;
  readonly refs: FileRefs;
  readonly renders: RenderRefs;
  readonly functions: HostFunctions;
  /** Renders a template before its state runs; throws `NeedsHost` if that is impossible. */
  readonly renderAhead: RenderAhead;
  /** Resolves when all hosts of the barrier may be changed. */
  readonly ready: () => Promise<void>;
  /** Restarts the host and waits until it is back. */
  readonly restart: (restart: Restart) => Promise<Pick<Resume, 'took' | 'failed'>>;
  /**
   * Whether nothing else will be asked of the host after the run that is about to be sent: from then
   * on, the host answers no calls of others over this link.
   */
  readonly beginLast: () => boolean;
  /** Carries out a guarded run, and confirms it by a second login. */
  readonly guarded: <T>(guard: RollbackParams, run: () => Promise<T>) => Promise<T>;
};

/** The option `state_queue` (the host's own first): how a run waits unless the call says so. */
const queueOf = ({ opts, shared }: HostFacts): boolean | number => {
  const option = opts.state_queue ?? shared.request.config.options.get('state_queue');
  return typeof option === 'number' || typeof option === 'boolean' ? option : false;
};

/** Whether predictions are made for a plan, or compared with one. */
const isPlan = ({ options, planned }: Request): boolean =>
  options.plan === true || planned !== undefined;

/** Runs low chunks on the host and collects the results. */
export class HostStates {
  readonly #parts: StatesParts;
  readonly results: StateResults = {};
  /** States were sent to the host. */
  isSent = false;
  /** A state that was sent reads grains. */
  needsGrains = false;
  /** Collects the states of a template's own `state.*` call: they are not part of the run. */
  #aside: StateResults | undefined;
  readonly #warned = new Set<string>();
  readonly #running = new Map<string, StateStarted>();
  readonly #gate = new OutputLimiter();
  #planned: readonly LowChunk[] = [];
  /** Whether the output of a state is shown, by tag; made when the first output arrives. */
  #isShown: ReadonlyMap<string, boolean> | undefined;

  constructor(parts: StatesParts) {
    this.#parts = parts;
  }

  /** A state began on the host. */
  started(state: StateStarted): void {
    this.#running.set(state.tag, state);
  }

  /** The states that began and did not finish. */
  get running(): readonly StateStarted[] {
    return [...this.#running.values()];
  }

  /** The states that were sent and have not begun. */
  get unstarted(): readonly LowChunk[] {
    return this.#planned.filter(chunk => {
      const tag = lowTag(chunk);
      return !Object.hasOwn(this.results, tag) && !this.#running.has(tag);
    });
  }

  /** Records a finished state; false if it belongs to a template's call. */
  finished({ tag, result }: StateFinished): boolean {
    this.#running.delete(tag);
    this.#gate.end(tag);
    setOwn(this.#aside ?? this.results, tag, result);
    return this.#aside === undefined;
  }

  /** Returns the part of a running state's output that is shown. */
  shown(piece: OutputPiece): OutputPiece | undefined {
    if (!this.isOwnRun || !this.#running.has(piece.tag)) return undefined;
    // The host decides how many pieces it sends: none of them may cost a search.
    this.#isShown ??= shownTags(this.#planned);
    return this.#isShown.get(piece.tag) === true ? this.#gate.take(piece) : undefined;
  }

  /** Whether states that start now belong to the run itself. */
  get isOwnRun(): boolean {
    return this.#aside === undefined;
  }

  /** Runs low chunks on the host, as the run itself. */
  run = async (chunks: readonly LowChunk[], settings: RunSettings): Promise<RunOutcome> => {
    const { facts, pillar, ready } = this.#parts;
    const { host, shared } = facts;
    pillar.use(settings.pillar, settings.pillarSettings);
    for (const [tag, result] of Object.entries(settings.finished ?? {}))
      setOwn(this.results, tag, result);
    const guard = this.#guard(chunks, settings);
    const job = await this.#prepare(chunks, settings, guard);
    await ready();
    this.#planned = job.params.chunks;
    this.#isShown = undefined;
    const requisites = (): RequisiteGraph => requisiteEdges(chunks);
    const planned = await this.#plannedJob(chunks, settings, job);
    await pauseIfLong();
    shared.emit({ type: 'plan', host: host.id, total: chunks.length, requisites, ...planned });
    shared.emit({ type: 'phase', host: host.id, phase: 'run' });
    const answer = guard
      ? await this.#parts.guarded(guard, () => this.#sendOnce(job))
      : await this.#sendWhole(job, chunks, settings);
    return { states: this.results, retcode: answer.retcode };
  };

  /** The compiled run, for a plan. */
  async #plannedJob(
    chunks: readonly LowChunk[],
    settings: RunSettings,
    { ahead }: Job,
  ): Promise<{ job?: () => PlannedJob }> {
    const { facts, refs } = this.#parts;
    if (facts.shared.request.options.plan !== true) return {};
    const prefetch = await ahead.whole();
    const job = await plannedJob(chunks, settings, { facts, refs, prefetch });
    return { job: () => job };
  }

  /** Returns the rollback settings, if the user wants a rollback and something may change. */
  #guard(chunks: readonly LowChunk[], { test }: RunSettings): RollbackParams | undefined {
    const { host, shared, opts } = this.#parts.facts;
    const seconds = shared.request.options.guard;
    if (seconds === undefined || test) return undefined;
    if (chunks.some(({ state, fun }) => state === 'system' && fun === 'reboot'))
      throw noRestart(host.id);
    return rollbackParams(host, seconds, rollbackPaths(opts));
  }

  /**
   * Sends the run. Under `--guard`, restarts are refused: they would end the rollback's watchdog.
   */
  async #sendOnce(job: Job): Promise<RunResult> {
    // The link may break on purpose: nothing may be left to send.
    await job.ahead.whole();
    const answer = await this.#send(job);
    if (answer.restart) throw noRestart(this.#parts.facts.host.id);
    return answer;
  }

  async #sendWhole(
    job: Job,
    chunks: readonly LowChunk[],
    settings: RunSettings,
  ): Promise<RunResult> {
    let answer = await this.#send(job, true);
    const done = new Set<string>();
    while (answer.restart) {
      const { tag } = answer.restart;
      if (done.has(tag)) throw restartsAgain(this.#parts.facts.host.id, tag);
      done.add(tag);
      answer = await this.#goOn(answer.restart, chunks, settings);
    }
    return answer;
  }

  /**
   * Runs the states of a template's `state.*` call. They are not part of the run, so no events are
   * emitted.
   */
  runAside = async (chunks: readonly LowChunk[], settings: RunSettings): Promise<RunOutcome> => {
    const [states, before] = [{}, this.#aside];
    this.#aside = states;
    try {
      const { retcode, restart } = await this.#send(await this.#prepare(chunks, settings));
      if (!restart) return { states, retcode };
      throw new TsaltError(
        'restart-aside',
        `A template's states cannot restart the host (${restart.tag}).`,
        {
          kind: 'render',
          hint: 'Put the state into the SLS itself.',
        },
      );
    } finally {
      this.#aside = before;
    }
  };

  /** Restarts the host and continues the run. */
  async #goOn(
    restart: Restart,
    chunks: readonly LowChunk[],
    settings: RunSettings,
  ): Promise<RunResult> {
    const { facts, restart: restartHost } = this.#parts;
    const outcome = await restartHost(restart);
    facts.shared.emit({ type: 'phase', host: facts.host.id, phase: 'run' });
    const resume = { restart, results: this.results, ...outcome };
    // Another run may have begun meanwhile; it is better to finish this one late than never.
    const { params, ahead } = await this.#prepare(chunks, settings);
    return this.#send({ params: { ...params, queue: true, resume }, ahead });
  }

  async #prepare(
    given: readonly LowChunk[],
    settings: RunSettings,
    guard?: RollbackParams,
  ): Promise<Job> {
    const { facts, calls, refs, renders, functions, renderAhead } = this.#parts;
    const { chunks, warnings } = bindChunks(
      given,
      facts.modules,
      facts.shared.request.options.strict,
    );
    await pauseIfLong();
    checkFunctions(chunks, facts.modules);
    await pauseIfLong();
    this.#warn([...warnings, ...lostRequisites(chunks)]);
    await pauseIfLong();
    const opts = {
      ...facts.opts,
      ...runOpts(settings.opts ?? new Map()),
      test: settings.test,
      saltenv: settings.saltenv,
      ...(settings.test && isPlan(facts.shared.request) ? { [planOption]: true } : {}),
    };
    const own = facts.modules.filter(({ kind, builtin }) => kind === 'state' && !builtin);
    const isUsers = (state: string): boolean => own.some(item => mayBeCalled(item, state));
    for (let at = 0; at < chunks.length; at += stepSize) {
      const part = chunks.slice(at, at + stepSize);
      refs.addChunks(part, settings.saltenv, isUsers);
      renders.addChunks(part, settings.pillar, facts.modules);
      functions.addChunks(part, opts);
      await pauseIfLong();
    }
    // A state may use any of the user's modules: they call each other.
    for (const { sources = [] } of facts.ownOnHost) sources.forEach(refs.addSource);
    const ahead = await RunPrefetch.begin(
      chunks,
      facts.shared.fileRoots,
      renderAhead,
      (path, saltenv) => refs.allows(path, saltenv),
    );
    const planned = facts.shared.request.planned?.runOf(facts.host.id);
    if (planned) checkSources(facts.host.id, planned.sources, await ahead.whole());
    const needsNoGrains = needNoGrains(chunks, facts.modules);
    this.needsGrains ||= !needsNoGrains;
    const params = {
      chunks,
      fun: facts.shared.request.fun,
      job: facts.shared.request.options.jid,
      opts,
      queue: settings.queue ?? queueOf(facts),
      concurrent: settings.concurrent ?? false,
      ...(settings.finished ? { results: settings.finished } : {}),
      ...(facts.shared.request.decide ? { step: true } : {}),
      ...(guard && { guard }),
      ...(needsNoGrains ? { needsNoGrains } : {}),
      ...(await calls.pillarForModules()),
    };
    return { params, ahead };
  }

  /** Warns once of each: a run that continues after a restart binds its chunks again. */
  #warn(warnings: readonly string[]): void {
    const { host, shared } = this.#parts.facts;
    for (const message of warnings) {
      if (this.#warned.has(message)) continue;
      this.#warned.add(message);
      shared.emit({ type: 'log', host: host.id, level: 'warning', module: 'state', message });
    }
  }

  /** @param isWhole the states are the run itself, and no restart of the host has interrupted it */
  async #send({ params, ahead }: Job, isWhole = false): Promise<RunResult> {
    const { calls } = this.#parts;
    const peer = await (isWhole ? calls.wire() : calls.peer());
    await pauseIfLong();
    this.isSent = true;
    const run = nextRun++;
    const { prefetch, covered } = ahead.handOver(piece =>
      peer.event('rendered', { run, ...piece }),
    );
    const isRendered = covered >= params.chunks.length;
    const isLast = isWhole && isRendered && peer.isIdle && this.#parts.beginLast();
    const sent = {
      ...params,
      prefetch,
      ...(isRendered ? {} : { rendering: { run, covered } }),
      ...(isLast ? { isLast } : {}),
    };
    const answer = readRan(await peer.request('run', sent).catch(brokenOff).finally(ahead.stop));
    if (answer.aborted === undefined) return answer;
    throw new TsaltError('run-aborted', answer.aborted, { kind: 'host' });
  }
}

/** A run that is ready to be sent, but for what is still rendered for it. */
type Job = { readonly params: Omit<RunParams, 'prefetch'>; readonly ahead: RunPrefetch };

/** The number of the next run: a runtime may serve several. */
let nextRun = 1;

/** Of states with the same tag, one with `no_log` hides the output of all. */
const shownTags = (chunks: readonly LowChunk[]): Map<string, boolean> => {
  const shown = new Map<string, boolean>();
  for (const chunk of chunks) {
    const tag = lowTag(chunk);
    shown.set(tag, chunk.no_log !== true && shown.get(tag) !== false);
  }
  return shown;
};

/** States that are registered without a pause. */
const stepSize = 500;

/** States fail by their results; an error, whatever threw it, ends the whole run. */
const brokenOff = (error: unknown): never => {
  if (!(error instanceof TsaltError) || error.kind !== 'function') throw error;
  const { code, message, at, hint, cause } = error;
  throw new TsaltError(code, message, { kind: 'host', at, hint, cause });
};

const restartsAgain = (id: string, tag: string): TsaltError =>
  new TsaltError('wire-protocol', `${id}: ${readable(tag, 300)} requests a second restart.`, {
    kind: 'host',
  });

const noRestart = (id: string): TsaltError =>
  new TsaltError('guard-restart', `${id}: a guarded run cannot restart the host.`, {
    kind: 'usage',
    hint: 'Run system.reboot by itself, or leave --guard out.',
  });
