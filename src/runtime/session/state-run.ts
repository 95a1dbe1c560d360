import { getContext, type ModuleContext, withContext } from '../../modules/api.ts';
import { accumulatorsKey } from '../../modules/file/accumulators.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { RunParams, RunResult } from '../../protocol/job.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { predictionOf } from '../../protocol/plan.ts';
import type { StateResult } from '../../protocol/result.ts';
import { toJson } from '../engine/check-return.ts';
import { runChunks } from '../engine/engine.ts';
import { truthy } from '../engine/low-tools.ts';
import { retcodeOf } from '../engine/retcode.ts';
import type { EngineHost, HostStateView } from '../engine/run-state.ts';
import { openJournal } from '../journal.ts';
import { keepLostRun, takeLostRun } from '../lost-run.ts';
import { finishedOf, startedOf, withoutChanges } from '../report.ts';
import type { ArrivingPrefetch } from './arriving-prefetch.ts';
import { type HostModules, withUserGrains } from './host-modules.ts';
import type { LaterGrains } from './later-grains.ts';
import { LiveOutput } from './live-output.ts';
import type { RunningStates } from './running-states.ts';
import type { SessionHost } from './session-host.ts';

/** The parts of a session that a state run uses. */
export type RunParts = {
  readonly host: SessionHost;
  readonly modules: HostModules;
  readonly running: RunningStates;
  readonly isStopping: () => boolean;
  readonly isLinkLost: () => boolean;
  /** The data that the control node sends ahead. */
  readonly prefetch: ArrivingPrefetch;
};

/** Functions that run all states of their SLS. */
const wholeRuns: ReadonlySet<string> = new Set(['state.apply', 'state.highstate', 'state.sls']);

/** Runs low chunks with journal and engine, and keeps data for the next run. */
export const runStates = async (params: RunParams, parts: RunParts): Promise<RunResult> => {
  const { dir, emit } = parts.host;
  const warn = (message: string): void => emit.log('warning', 'state', message);
  takeLostRun(dir, warn);
  const journal = openJournal(dir, {
    readOnly: params.opts.test === true,
    isWhole: wholeRuns.has(params.fun ?? ''),
    warn,
  });
  const { context, later } = await parts.modules.contextOfRun(params);
  const run = new StateRun(params, parts, context, later);
  const { results, aborted, restart } = await withContext(run.context, () =>
    inLongRun(params.chunks, () => runChunks(run.engineHost(journal), params.chunks)),
  ).finally(journal.end);
  if (parts.isLinkLost()) keepLostRun(dir, params.fun ?? 'state.apply', results, warn);
  if (aborted !== undefined) throw new TsaltError('SaltInvocationError', aborted, { kind: 'host' });
  const retcode = retcodeOf(results, params.chunks);
  if (restart && !parts.isStopping())
    return { retcode, restart: { ...restart, kept: keptOf(context.context) } };
  return parts.isStopping()
    ? { retcode, aborted: 'The run was stopped before its last state.' }
    : { retcode };
};

/** The number of states from which on it saves more time than it takes to load what sets the flag. */
const manyStates = 250;

/** Has V8 optimize later where there are many states: of 1,000, most are over before that is worth it. */
const inLongRun = async <Result>(
  { length }: RunParams['chunks'],
  work: () => Promise<Result>,
): Promise<Result> => {
  if (length < manyStates) return work();
  const { optimizingLater } = await import('../../memory/optimize-later.ts');
  return optimizingLater(work);
};

/** One run, as the engine's host. Its grains and pillar may be reloaded between states. */
class StateRun {
  readonly #params: RunParams;
  readonly #parts: RunParts;
  readonly #context: ModuleContext;
  #later: LaterGrains | undefined;
  readonly #live: LiveOutput;
  #grains: PlainDict;
  #pillar: PlainDict;

  constructor(params: RunParams, parts: RunParts, context: ModuleContext, later?: LaterGrains) {
    this.#later = later;
    this.#params = params;
    this.#parts = parts;
    this.#live = new LiveOutput(parts.host.emit.output);
    this.#context = context;
    this.#grains = context.grains;
    this.#pillar = context.pillar;
    hide(context.context, '__prefetch__', parts.prefetch);
    if (!params.resume) return;
    Object.assign(context.context, params.resume.restart.kept);
    hide(context.context, '__resume__', params.resume);
  }

  /** The context of code between states. */
  get context(): ModuleContext {
    return Object.defineProperty({ ...this.#context }, 'grains', {
      get: () => this.#grains,
      enumerable: true,
    });
  }

  engineHost(pending: EngineHost['pending']): EngineHost {
    const { opts, resume, results } = this.#params;
    const { host, modules, isStopping } = this.#parts;
    return {
      registry: host.registry,
      execute: (fun, args, kwargs) => modules.execute(fun, args as Plain[], kwargs),
      hasFunction: modules.knows,
      opts,
      grains: () => this.#later?.known ?? this.#grains,
      context: this.#context.context,
      inState: (view, work) => withContext(this.#stateContext(view), work),
      withOwnLog: (low, work) =>
        truthy(low.no_log) ? withContext({ ...getContext(), ...noLog }, work) : work(),
      log: (level, message, stack) => getContext().log(level, 'state', message, stack),
      onStart: this.#started,
      onFinish: this.#finished,
      refresh: this.#refresh,
      stopping: isStopping,
      ...(resume ? { resume } : {}),
      ...(results ? { finished: results } : {}),
      ...(this.#params.step ? { decide: this.#decide } : {}),
      pending,
    };
  }

  /** Makes the context of a state's code: with its saltenv, its chunk, and test mode if set. */
  #stateContext({ env, test, low, lowstate, running }: HostStateView): ModuleContext {
    const { opts, log } = this.#context;
    const isSilent = truthy(low.no_log);
    return {
      ...this.#context,
      grains: this.#grains,
      pillar: this.#pillar,
      env,
      low: { ...low },
      log: isSilent ? noLog.log : log,
      output: isSilent ? noLog.output : (stream, text) => this.#live.add(lowTag(low), stream, text),
      lowstate,
      running,
      opts: test === opts.test ? opts : { ...opts, test },
    };
  }

  #decide: NonNullable<EngineHost['decide']> = async (tag, predicted, low) => {
    const about = { ...predicted, __id__: low.__id__, __sls__: low.__sls__ ?? null } as StateResult;
    const prediction = predictionOf(tag, {
      ...about,
      name: about.name ?? low.name,
      ...(truthy(low.no_log) ? { no_log: true } : {}),
    });
    return (await this.#parts.host.request('state.decide', toJson(prediction))) === true;
  };

  #started = (tag: string, low: LowChunk): void => {
    this.#parts.running.start(tag, low);
    this.#parts.host.emit.stateStart(startedOf(tag, low));
  };

  #finished = (tag: string, result: StateResult, low: LowChunk): void => {
    const { host, running } = this.#parts;
    running.finish(tag);
    this.#live.end(tag);
    const finished = finishedOf(tag, result, low, this.#params);
    try {
      host.emit.state(finished);
    } catch (error) {
      host.emit.state(withoutChanges(finished, error));
    }
  };

  #refresh: EngineHost['refresh'] = async what => {
    // Templates rendered ahead used the grains and pillar of the beginning of the run.
    const { context } = this.#context;
    const { files, lists } = this.#parts.prefetch;
    if (what !== 'modules') context.__prefetch__ = { files, lists };
    if (what === 'modules') await this.#parts.host.registry.refresh?.();
    else if (what === 'grains') await this.#refreshGrains();
    else this.#pillar = (await this.#reloadPillar()) ?? this.#pillar;
  };

  async #refreshGrains(): Promise<void> {
    const { host, modules } = this.#parts;
    const grains = await modules.refreshGrains();
    this.#grains = withUserGrains(grains, this.#params.opts);
    this.#later = undefined;
    await host.request('control.grains', { grains }).catch((error: unknown) => {
      host.emit.log('warning', 'state', `Templates see the old grains: ${String(error)}`);
    });
  }

  /** Requests the pillar again, if the run has one. */
  async #reloadPillar(): Promise<PlainDict | undefined> {
    const { host, modules } = this.#parts;
    const ask = (fun: string): Promise<unknown> =>
      host.request('control.call', { fun, args: [], kwargs: {} });
    try {
      if (modules.knows('saltutil.refresh_pillar')) await ask('saltutil.refresh_pillar');
      const pillar = this.#params.pillar === undefined ? undefined : await ask('pillar.items');
      return isPlainDict(pillar) ? pillar : undefined;
    } catch (error) {
      const why = messageOf(error);
      host.emit.log('warning', 'state', `The pillar could not be reloaded: ${why}`);
      return undefined;
    }
  }
}

/** Sets a value that user modules can read, but that is not listed in `__context__`. */
const hide = (context: ModuleContext['context'], key: string, value: unknown): void => {
  Object.defineProperty(context, key, { value, writable: true, configurable: true });
};

/** Log lines may quote a command or its output, so `no_log` drops them. */
const noLog = { log: () => undefined, output: undefined };

/** Returns the modules' data that a run needs after a restart of the host. */
const keptOf = (context: { readonly [key: string]: unknown }): PlainDict =>
  Object.hasOwn(context, accumulatorsKey)
    ? { [accumulatorsKey]: toJson(context[accumulatorsKey]) }
    : {};
