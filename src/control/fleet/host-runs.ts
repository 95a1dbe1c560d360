import type { Request } from '../../config/request.ts';
import { showError, TsaltError } from '../../protocol/error.ts';
import type { HostResult } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import type { Transport } from '../../transport/transport.ts';
import type { Shared } from '../facts/shared.ts';
import type { HostRun } from '../host/host-run.ts';
import type { KeptRuntimes } from '../host/kept-runtimes.ts';
import { cachedGrains } from '../host/last-grains.ts';
import { decideHost, runHost } from '../host/run-host.ts';
import { sudoHint } from '../host/sudo-hint.ts';
import { newBarrier } from './barrier.ts';
import type { Targets } from './targets.ts';
import { timeLimit } from './time-limit.ts';

/** The parts that all hosts of a run share. */
export type FleetParts = {
  readonly shared: Shared;
  readonly transport: Transport;
  readonly targets: Targets;
  readonly signal: AbortSignal;
  readonly kept?: KeptRuntimes;
  /** Adds a host to a barrier that another process keeps. */
  readonly enter?: (host: Host) => NonNullable<HostRun['gate']>;
};

/** Runs hosts, in this process or in others. */
export type HostRunner = Pick<
  HostRuns,
  'answered' | 'hasDrifted' | 'decide' | 'isDecided' | 'one' | 'check'
>;

/** Runs the hosts of a fleet one by one, in any order. */
export class HostRuns {
  readonly #parts: FleetParts;
  readonly #enter: (host: Host) => NonNullable<HostRun['gate']>;
  readonly #decided = new Set<Host>();
  /** Hosts that are targets, or failed before that was decided. */
  answered = 0;
  /** A host differs from its plan. */
  hasDrifted = false;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#enter = parts.enter ?? newBarrier();
  }

  /**
   * Decides before the run which hosts are targets. A host that cannot be asked is kept: its run
   * reports why.
   */
  async decide(host: Host): Promise<boolean> {
    const prepared = await this.#prepare(host);
    if ('failure' in prepared) return true;
    const limit = this.#limit();
    const isTarget = await decideHost({ ...this.#hostRun(host, prepared), signal: limit.signal })
      .catch(() => true)
      .finally(limit.release);
    return isTarget;
  }

  /** Notes that a host was decided: it is not asked again. */
  isDecided(host: Host): void {
    this.#decided.add(host);
  }

  /**
   * Runs one host and emits its result.
   *
   * @returns whether it succeeded; a host that is not a target did
   */
  one = async (host: Host): Promise<boolean> => {
    const { emit } = this.#parts.shared;
    const gate = this.#enter(host);
    // Leaves the barrier after the result: others see a compile error before they change
    // anything.
    try {
      const result = await this.#run(host, gate);
      if (!result || this.#isProbablyOther(host, result)) return true;
      this.answered += 1;
      if (result.failure?.kind === 'drift') this.hasDrifted = true;
      emit({ type: 'host', result });
      return result.retcode === 0 && result.failure === undefined;
    } finally {
      gate.leave();
    }
  };

  /** Runs another function on a host, without events. */
  async check(host: Host, request: Request): Promise<HostResult | undefined> {
    const { shared } = this.#parts;
    const prepared = await this.#prepare(host);
    if ('failure' in prepared) return prepared;
    const limit = this.#limit(request);
    const quiet = { ...shared, request, emit: () => undefined };
    const { isTarget: _, ...run } = this.#hostRun(host, prepared);
    const result = await runHost({ ...run, shared: quiet, signal: limit.signal });
    limit.release();
    return limit.explain(result);
  }

  async #run(host: Host, gate: HostRun['gate'] & object): Promise<HostResult | undefined> {
    const { emit } = this.#parts.shared;
    const prepared = await this.#prepare(host);
    if ('failure' in prepared) return prepared;
    const limit = this.#limit();
    const run = { ...this.#hostRun(host, prepared), signal: limit.signal, gate };
    const result = await runHost(run);
    limit.release();
    const hint = result && sudoHint(prepared, result);
    if (hint !== undefined)
      emit({ type: 'log', level: 'warning', host: host.id, module: 'sudo', message: hint });
    return limit.explain(result);
  }

  /**
   * Returns the host with its secrets, or the result of a host whose entry or secrets are wrong.
   */
  async #prepare(host: Host): Promise<Host | (HostResult & Required<Pick<HostResult, 'failure'>>)> {
    const { request } = this.#parts.shared;
    try {
      return await request.prepareHost(host);
    } catch (error) {
      return unprepared(host, request, error);
    }
  }

  #hostRun(host: Host, prepared: Host): HostRun {
    const { shared, transport, signal, kept, targets } = this.#parts;
    const asks = targets.undecided.has(host) && !this.#decided.has(host);
    return {
      shared,
      transport,
      host: prepared,
      signal,
      ...(kept ? { kept } : {}),
      ...(asks ? { isTarget: targets.isTarget } : {}),
    };
  }

  /**
   * Whether a host that could not be asked is, by the grains of its last run, not a target. It is
   * reported by a warning and does not fail the run.
   */
  #isProbablyOther(host: Host, { failure }: HostResult): boolean {
    const { shared, targets } = this.#parts;
    if (failure === undefined || !targets.undecided.has(host)) return false;
    const grains = cachedGrains(shared.request.config, host);
    if (!grains || targets.isTargetBy(host, grains) !== false) return false;
    shared.emit({
      type: 'log',
      level: 'warning',
      host: host.id,
      module: 'target',
      message: `${failure.message.split('\n')[0]} By the grains of its last run it is not a target.`,
    });
    return true;
  }

  #limit({ options } = this.#parts.shared.request) {
    return timeLimit(this.#parts.signal, options.timeout);
  }
}

const unprepared = (host: Host, request: Request, error: unknown) => ({
  id: host.id,
  fun: request.fun,
  retcode: 254,
  failure: {
    kind: error instanceof TsaltError && isEntryFault(error) ? error.kind : ('auth' as const),
    code: error instanceof TsaltError ? error.code : 'secret',
    message: showError(error),
  },
});

/** Whether the roster's entry itself is wrong, not only a secret that it names. */
const isEntryFault = ({ code }: TsaltError): boolean =>
  code.startsWith('roster-') && !code.startsWith('roster-secret');
