import { recordChildren } from '../modules/_shared/commands/run-children.ts';
import { childrenFile, type Lock, temporaryFile } from '../modules/_shared/commands/run-lock.ts';
import { settle } from '../modules/_shared/files/settle.ts';
import { recordTemporary } from '../modules/_shared/files/temporary.ts';
import { getContext, type ModuleContext, withContext } from '../modules/api.ts';
import { accumulatorsKey } from '../modules/file/accumulators.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { GuardAnswer, GuardEnd } from '../protocol/guard.ts';
import type {
  CallParams,
  CallResult,
  HostOpts,
  NamesParams,
  RunParams,
  RunResult,
  StateFinished,
  StateStarted,
} from '../protocol/job.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import { toJson } from './engine/check-return.ts';
import { runChunks } from './engine/engine.ts';
import { truthy } from './engine/low-tools.ts';
import { retcodeOf } from './engine/retcode.ts';
import type { EngineHost } from './engine/run-state.ts';
import { takeGuardNews } from './guard/folders.ts';
import { openJournal } from './journal.ts';
import { keepLostRun, takeLostRun } from './lost-run.ts';
import type { Registry } from './registry-types.ts';
import { finishedOf, startedOf, withoutChanges } from './report.ts';
import { takeTurn } from './turn.ts';

/** What a session works with; `serve` makes it from the wire. */
export type SessionHost = {
  readonly registry: Registry;
  readonly collectGrains: () => Promise<PlainDict>;
  /** The workspace: lock, journal, results of a run whose link was lost. */
  readonly dir: string;
  /** Where runs of states wait for each other: the workspace without a random name. */
  readonly lockDir?: string;
  /** The artifact's hash: its file is in the workspace. */
  readonly sha: string;
  readonly request: <T>(
    method: string,
    params: unknown,
    sink?: (bytes: Uint8Array) => void,
  ) => Promise<T>;
  readonly emit: {
    readonly stateStart: (payload: StateStarted) => void;
    readonly state: (payload: StateFinished) => void;
    readonly log: ModuleContext['log'];
  };
};

/** Functions that run all states of the SLS that they run. */
const wholeRuns: ReadonlySet<string> = new Set(['state.apply', 'state.highstate', 'state.sls']);

const packageModules: ReadonlySet<string> = new Set(['pkg', 'pip', 'npm', 'ports', 'kernelpkg']);

/** One control node's work on this host: answers `call` and `run`. */
export class Session {
  readonly #host: SessionHost;
  #grains: Promise<PlainDict>;
  #stopping = false;
  #linkLost = false;
  #running = 0;
  #names: ReadonlySet<string> | undefined;
  readonly #idle = new Set<() => void>();
  /** The states that run right now, by tag: module, and what others may read about them. */
  readonly #current = new Map<string, { readonly module: string; readonly shown: string }>();
  #lock: Lock | undefined;
  #isGuarded = false;

  constructor(host: SessionHost) {
    this.#host = host;
    this.#grains = host.collectGrains();
  }

  grains(): Promise<PlainDict> {
    return this.#grains;
  }

  /** Nothing new starts from now on; what runs may finish. */
  stop(reason: 'cancelled' | 'link lost'): void {
    this.#stopping = true;
    if (reason !== 'link lost') return;
    this.#linkLost = true;
    try {
      this.#lock?.mark({
        finishing: [...this.#current.values()].map(({ shown }) => shown).join(', '),
      });
    } catch {
      // The lock still names the run, without the reason.
    }
  }

  /**
   * Milliseconds that what runs may still take when the control node has gone. A state finishes,
   * bounded by its own `timeout` alone. A guarded run has to end, for the host to be taken back;
   * only package managers get more time there, since one cut short leaves a host that needs a hand.
   */
  get grace(): number {
    if (this.#current.size > 0 && !this.#isGuarded) return Number.POSITIVE_INFINITY;
    const packages = [...this.#current.values()].some(({ module }) => packageModules.has(module));
    return packages ? 300_000 : 10_000;
  }

  /** Resolves when no call and no run is going on. */
  idle(): Promise<void> {
    return this.#running === 0
      ? Promise.resolve()
      : new Promise(resolve => {
          this.#idle.add(resolve);
        });
  }

  /** Request `call`: one execution function of this host. */
  call({ fun, args, kwargs, opts, pillar }: CallParams): Promise<CallResult> {
    return this.#work(async () => {
      const context = await this.#context(opts, pillar ?? {});
      const value = await withContext(context, () => this.#execute(fun, args, kwargs));
      const plain = toJson(value);
      const { retcode } = context.context;
      return { value: plain, retcode: retcodeFor(retcode, plain) };
    });
  }

  /** Request `names`: the functions that this host has. */
  names({ kind, opts, pillar }: NamesParams): Promise<readonly string[]> {
    return this.#work(async () => {
      const { registry } = this.#host;
      const context = await this.#context(opts, pillar ?? {});
      return withContext(context, async () => registry.available?.(kind) ?? registry.names(kind));
    });
  }

  /** Request `run`: low chunks, one state run at a time on this host. */
  run(params: RunParams): Promise<RunResult> {
    return this.#work(async () => {
      const lock = params.concurrent ? undefined : await this.#turn(params);
      const { dir, lockDir = dir } = this.#host;
      const endRecords = lock && [
        recordChildren(childrenFile(lockDir)),
        recordTemporary(temporaryFile(lockDir)),
      ];
      this.#lock = lock;
      try {
        return await this.#guarded(params, () => this.#runLocked(params));
      } finally {
        this.#lock = undefined;
        for (const endRecord of endRecords ?? []) endRecord();
        lock?.release();
      }
    });
  }

  /** Request `guard`: control has logged in after a guarded run. */
  async settleGuard(params: GuardEnd): Promise<GuardAnswer> {
    const { settleGuard } = await import('./guard/guard.ts');
    return settleGuard(this.#host.dir, params);
  }

  /** Starts what takes a guarded run back, and tells it how the run ends. */
  async #guarded(params: RunParams, work: () => Promise<RunResult>): Promise<RunResult> {
    const { dir, emit } = this.#host;
    takeGuardNews(dir, message => emit.log('warning', 'state', message));
    if (!params.guard || params.opts.test) return work();
    const { openGuard } = await import('./guard/guard.ts');
    this.#isGuarded = true;
    const guard = await openGuard(params.guard, this.#host);
    let isWhole = false;
    try {
      const result = await work();
      isWhole = result.aborted === undefined && result.restart === undefined;
      return result;
    } finally {
      if (isWhole) guard.ended();
      else guard.broken();
    }
  }

  #turn(params: RunParams): Promise<Lock | undefined> {
    const { dir, lockDir = dir, emit } = this.#host;
    return takeTurn(params, {
      dir: lockDir,
      isShared: lockDir !== dir,
      isStopping: () => this.#stopping,
      log: (level, message) => emit.log(level, 'state', message),
    });
  }

  async #runLocked(params: RunParams): Promise<RunResult> {
    const { dir, emit, registry } = this.#host;
    const warn = (message: string): void => emit.log('warning', 'state', message);
    takeLostRun(dir, warn);
    const journal = openJournal(dir, {
      readOnly: params.opts.test === true,
      isWhole: wholeRuns.has(params.fun ?? ''),
      warn,
    });
    let pillar = params.pillar ?? {};
    const context = await this.#context(params.opts, pillar, () => pillar);
    if (params.prefetch !== undefined) hide(context.context, '__prefetch__', params.prefetch);
    if (params.resume) {
      Object.assign(context.context, params.resume.restart.kept);
      hide(context.context, '__resume__', params.resume);
    }
    let grains = context.grains;
    const live: ModuleContext = Object.defineProperty({ ...context }, 'grains', {
      get: () => grains,
      enumerable: true,
    });
    const engineHost: EngineHost = {
      registry,
      execute: (fun, args, kwargs) => this.#execute(fun, args as Plain[], kwargs),
      hasFunction: fun => this.#knows(fun),
      opts: params.opts,
      grains: () => grains,
      context: context.context,
      inState: ({ env, test, low, lowstate, running }, work) =>
        withContext(
          {
            ...context,
            grains,
            pillar,
            env,
            low: { ...low },
            ...(truthy(low.no_log) ? noLog : {}),
            lowstate,
            running,
            opts: test === context.opts.test ? context.opts : { ...context.opts, test },
          },
          work,
        ),
      withOwnLog: (low, work) =>
        truthy(low.no_log) ? withContext({ ...getContext(), ...noLog }, work) : work(),
      log: (level, message, stack) => getContext().log(level, 'state', message, stack),
      onStart: (tag, low) => {
        this.#current.set(tag, {
          module: low.state,
          shown: `${low.__id__} (${low.state}.${low.fun})`.slice(0, 200),
        });
        emit.stateStart(startedOf(tag, low));
      },
      onFinish: (tag, result, low) => {
        this.#current.delete(tag);
        const finished = finishedOf(tag, result, low, params);
        try {
          emit.state(finished);
        } catch (error) {
          emit.state(withoutChanges(finished, error));
        }
      },
      refresh: async what => {
        // Templates rendered ahead saw what was true when the run began.
        const known = context.context.__prefetch__;
        if (what !== 'modules' && isPlainDict(known))
          context.context.__prefetch__ = { files: known.files };
        if (what === 'modules') await registry.refresh?.();
        else if (what === 'grains') {
          this.#grains = this.#host.collectGrains();
          grains = withOwnGrains(await this.#grains, params.opts);
          await this.#host
            .request('control.grains', { grains: await this.#grains })
            .catch((error: unknown) => warn(`Templates see the old grains: ${String(error)}`));
        } else pillar = (await this.#reloadPillar(params.pillar !== undefined)) ?? pillar;
      },
      stopping: () => this.#stopping,
      ...(params.resume ? { resume: params.resume } : {}),
      pending: journal,
    };
    const { results, aborted, restart } = await withContext(live, () =>
      runChunks(engineHost, params.chunks),
    ).finally(journal.end);
    if (this.#linkLost) keepLostRun(dir, params.fun ?? 'state.apply', results, warn);
    if (aborted !== undefined)
      throw new TsaltError('SaltInvocationError', aborted, { kind: 'host' });
    const retcode = retcodeOf(results, params.chunks);
    if (restart && !this.#stopping)
      return { retcode, restart: { ...restart, kept: keptOf(context.context) } };
    return this.#stopping
      ? { retcode, aborted: 'The run was stopped before its last state.' }
      : { retcode };
  }

  async #work<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping)
      throw new TsaltError('host-stopping', 'The host is stopping and starts nothing new.', {
        kind: 'host',
      });
    this.#running++;
    try {
      return await work();
    } finally {
      for (const complaint of await settle()) this.#host.emit.log('error', 'file', complaint);
      this.#running--;
      if (this.#running === 0) for (const resolve of this.#idle) resolve();
    }
  }

  async #context(
    opts: HostOpts,
    pillar: PlainDict,
    livePillar?: () => PlainDict,
  ): Promise<ModuleContext> {
    const { registry, dir, emit, request } = this.#host;
    const context: ModuleContext = {
      salt: registry.salt,
      states: registry.states,
      utils: registry.utils,
      grains: withOwnGrains(await this.#grains, opts),
      pillar,
      opts: { cachedir: dir, ...opts },
      context: {},
      env: opts.saltenv,
      log: emit.log,
      provider: registry.provider,
      control: { request },
    };
    if (livePillar) Object.defineProperty(context, 'pillar', { get: livePillar, enumerable: true });
    return context;
  }

  async #execute(fun: string, args: readonly Plain[], kwargs: PlainDict): Promise<unknown> {
    const resolved = await this.#host.registry.resolve('exec', fun);
    if (!resolved.ok) {
      const { reason, cause } = resolved;
      throw new TsaltError('no-function', reason, { kind: 'host', cause });
    }
    return resolved.call(args, kwargs);
  }

  #knows(fun: string): boolean {
    this.#names ??= new Set(this.#host.registry.names('exec'));
    return this.#names.has(fun);
  }

  async #reloadPillar(wanted: boolean): Promise<PlainDict | undefined> {
    const ask = (fun: string): Promise<unknown> =>
      this.#host.request('control.call', { fun, args: [], kwargs: {} });
    try {
      if (this.#knows('saltutil.refresh_pillar')) await ask('saltutil.refresh_pillar');
      const pillar = wanted ? await ask('pillar.items') : undefined;
      return isPlainDict(pillar) ? pillar : undefined;
    } catch (error) {
      const why = messageOf(error);
      this.#host.emit.log('warning', 'state', `The pillar could not be reloaded: ${why}`);
      return undefined;
    }
  }
}

/** Modules of the project find it; those that list `__context__` see only what modules left there. */
const hide = (context: ModuleContext['context'], key: string, value: unknown): void => {
  Object.defineProperty(context, key, { value, writable: true, configurable: true });
};

/** A line of the log may quote a command or what it printed. */
const noLog = { log: () => undefined };

/** Grains that the roster or the configuration gives this host win over what it found out. */
const withOwnGrains = (grains: PlainDict, { id, grains: own }: HostOpts): PlainDict => ({
  ...grains,
  id,
  ...(isPlainDict(own) ? own : {}),
});

/** What modules collected and need when the run goes on after a restart. */
const keptOf = (context: { readonly [key: string]: unknown }): PlainDict =>
  Object.hasOwn(context, accumulatorsKey)
    ? { [accumulatorsKey]: toJson(context[accumulatorsKey]) }
    : {};

/** Salt's rule: what the function left in `__context__`, else 1 for a dict that says it failed. */
const retcodeFor = (left: unknown, value: Plain): number => {
  const given = Number(left ?? 0);
  if (given !== 0) return Number.isInteger(given) ? given : 1;
  return isPlainDict(value) && (value.result === false || value.success === false) ? 1 : 0;
};
