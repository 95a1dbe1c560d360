import { recordChildren } from '../../modules/_shared/commands/run-children.ts';
import { childrenFile, type Lock, temporaryFile } from '../../modules/_shared/commands/run-lock.ts';
import { fsyncPending } from '../../modules/_shared/files/fsync-pending.ts';
import { recordTemporary } from '../../modules/_shared/files/temporary.ts';
import { withContext } from '../../modules/api.ts';
import { TsaltError } from '../../protocol/error.ts';
import type {
  CallParams,
  CallResult,
  NamesParams,
  RunParams,
  RunResult,
} from '../../protocol/job.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import type { RenderedPiece } from '../../protocol/prefetch.ts';
import type { RollbackRequest, RollbackResult } from '../../protocol/rollback.ts';
import { toJson } from '../engine/check-return.ts';
import { takeRollbackNews } from '../rollback/folders.ts';
import { takeRunLock } from '../run-lock.ts';
import { ArrivingPrefetch } from './arriving-prefetch.ts';
import { HostModules } from './host-modules.ts';
import { RunningStates } from './running-states.ts';
import type { SessionHost } from './session-host.ts';
import { runStates } from './state-run.ts';

/** Serves one control node on this host until it disconnects. */
export class Session {
  readonly #host: SessionHost;
  readonly #modules: HostModules;
  readonly #running = new RunningStates();
  #stopping = false;
  #linkLost = false;
  #requests = 0;
  readonly #idle = new Set<() => void>();
  /** By the number of the run. */
  readonly #prefetches = new Map<number, ArrivingPrefetch>();
  #lock: Lock | undefined;
  #isGuarded = false;

  constructor(host: SessionHost) {
    this.#host = host;
    this.#modules = new HostModules(host);
  }

  grains(): Promise<PlainDict> {
    return this.#modules.grains();
  }

  /** Starts no further work; current work may finish. */
  stop(reason: 'cancelled' | 'link lost'): void {
    this.#stopping = true;
    if (reason !== 'link lost') return;
    this.#linkLost = true;
    for (const prefetch of this.#prefetches.values()) prefetch.end();
    try {
      this.#lock?.mark({ finishing: this.#running.shown });
    } catch {
      // The lock still names the run, without the reason.
    }
  }

  /**
   * Milliseconds that current work may still take when the control node has disappeared. A state
   * may finish, limited only by its own `timeout`. A guarded run has to end, so that the host can
   * roll back; there, only package managers get more time, since interrupting one leaves a broken
   * host.
   */
  get grace(): number {
    if (!this.#running.isEmpty && !this.#isGuarded) return Number.POSITIVE_INFINITY;
    return this.#running.hasPackages ? 300_000 : 10_000;
  }

  /** Resolves when there is no active request. */
  idle(): Promise<void> {
    return this.#requests === 0
      ? Promise.resolve()
      : new Promise(resolve => {
          this.#idle.add(resolve);
        });
  }

  /** Request `call`: one execution function of this host. */
  call({ fun, args, kwargs, opts, pillar = {}, needsNoGrains }: CallParams): Promise<CallResult> {
    return this.#work(async () => {
      const context = needsNoGrains
        ? this.#modules.contextWithoutGrains(opts, pillar)
        : await this.#modules.context(opts, pillar);
      const value = await withContext(context, () => this.#modules.execute(fun, args, kwargs));
      const plain = toJson(value);
      const { retcode } = context.context;
      return { value: plain, retcode: retcodeFor(retcode, plain) };
    });
  }

  /** Request `names`: the functions that this host has. */
  names({ kind, opts, pillar }: NamesParams): Promise<readonly string[]> {
    return this.#work(async () => {
      const { registry } = this.#host;
      const context = await this.#modules.context(opts, pillar ?? {});
      return withContext(context, async () => registry.available?.(kind) ?? registry.names(kind));
    });
  }

  /**
   * Accepts request `run`: pieces of its templates may follow before it begins.
   *
   * @returns runs its low chunks; on this host one run at a time
   */
  prepare(params: RunParams): () => Promise<RunResult> {
    const prefetch = new ArrivingPrefetch(params);
    const { run } = params.rendering ?? {};
    if (run === undefined) return () => this.#run(params, prefetch);
    this.#prefetches.set(run, prefetch);
    return () => this.#run(params, prefetch).finally(() => this.#prefetches.delete(run));
  }

  /** Event `rendered`. Pieces of a run that has ended are dropped. */
  rendered(piece: RenderedPiece): void {
    this.#prefetches.get(piece.run)?.add(piece);
  }

  #run(params: RunParams, prefetch: ArrivingPrefetch): Promise<RunResult> {
    return this.#work(async () => {
      const lock = params.concurrent ? undefined : await this.#takeTurn(params);
      const { dir, lockDir = dir } = this.#host;
      const endRecords = lock && [
        recordChildren(childrenFile(lockDir)),
        recordTemporary(temporaryFile(lockDir)),
      ];
      this.#lock = lock;
      try {
        return await this.#guarded(params, () =>
          runStates(params, {
            host: this.#host,
            modules: this.#modules,
            running: this.#running,
            isStopping: () => this.#stopping,
            isLinkLost: () => this.#linkLost,
            prefetch,
          }),
        );
      } finally {
        this.#lock = undefined;
        for (const endRecord of endRecords ?? []) endRecord();
        lock?.release();
      }
    });
  }

  /** Request `guard`: the control node has logged in after a guarded run. */
  async settleGuard(params: RollbackRequest): Promise<RollbackResult> {
    const { answerRollback: settleGuard } = await import('../rollback/rollback.ts');
    return settleGuard(this.#host.dir, params);
  }

  /** Starts the watchdog of a guarded run, and signals to it how the run ends. */
  async #guarded(params: RunParams, work: () => Promise<RunResult>): Promise<RunResult> {
    const { dir, emit } = this.#host;
    takeRollbackNews(dir, message => emit.log('warning', 'state', message));
    if (!params.guard || params.opts.test) return work();
    const { openRollback: openGuard } = await import('../rollback/rollback.ts');
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

  #takeTurn(params: RunParams): Promise<Lock | undefined> {
    const { dir, lockDir = dir, emit } = this.#host;
    return takeRunLock(params, {
      dir: lockDir,
      isShared: lockDir !== dir,
      isStopping: () => this.#stopping,
      log: (level, message) => emit.log(level, 'state', message),
    });
  }

  /** Runs one request. @throws TsaltError `host-stopping` */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping)
      throw new TsaltError('host-stopping', 'The host is stopping and starts nothing new.', {
        kind: 'host',
      });
    this.#requests++;
    try {
      return await work();
    } finally {
      for (const complaint of await fsyncPending()) this.#host.emit.log('error', 'file', complaint);
      this.#requests--;
      if (this.#requests === 0) for (const resolve of this.#idle) resolve();
    }
  }
}

/**
 * Salt's rule: the value that the function set in `__context__`, or else 1 for a dict that reports
 * failure.
 */
const retcodeFor = (left: unknown, value: Plain): number => {
  const given = Number(left ?? 0);
  if (given !== 0) return Number.isInteger(given) ? given : 1;
  return isPlainDict(value) && (value.result === false || value.success === false) ? 1 : 0;
};
