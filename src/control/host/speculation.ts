import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { Shared } from '../facts/shared.ts';
import type { HostAttempt } from './attempt.ts';

/** A run that began before the host answered. End it with `commit` or `discard`. */
export type Speculation = {
  /**
   * Called when the host has answered. If every grain that was read so far is right, the run
   * continues and its held-back events are emitted; otherwise it is discarded.
   *
   * @returns the attempt and its result; undefined where the run was discarded
   */
  readonly commit: (grains: PlainDict, peer: Peer) => Speculated | undefined;
  /** Drops the run: it changed nothing, and none of its events is emitted. */
  readonly discard: () => void;
};

/** An attempt and the promise of its result. */
export type Speculated = {
  readonly attempt: HostAttempt;
  readonly result: Promise<HostResult>;
};

/**
 * Prepares a speculative run: makes its attempt, which assumes the cached grains, and performs it.
 *
 * @param shared the run's, with an `emit` that holds events back
 * @param committed resolves at the commit; before, nothing on the host may change
 */
export type Prepare = (shared: Shared, committed: Promise<Peer>) => Speculated;

/**
 * Begins a host's run before the host has answered: rendering and compiling take place while the
 * host starts.
 */
export const speculate = (shared: Shared, prepare: Prepare): Speculation => {
  const events = new HeldEvents(shared.emit);
  let connect: (peer: Peer) => void = () => undefined;
  const committed = new Promise<Peer>(resolve => {
    connect = resolve;
  });
  const { attempt, result } = prepare({ ...shared, emit: events.emit }, committed);
  // The caller of `commit` sees a failure. A discarded run fails unseen.
  result.catch(() => undefined);
  const discard = (): void => {
    events.drop();
    attempt.close();
  };
  return {
    commit: (grains, peer) => {
      if (!attempt.confirm(grains)) return void discard();
      events.release();
      connect(peer);
      return { attempt, result };
    },
    discard,
  };
};

/** Holds back the events of a speculative run until its commit. */
class HeldEvents {
  readonly #held: RunEvent[] = [];
  #emit: Shared['emit'] = event => void this.#held.push(event);
  readonly #release: Shared['emit'];

  constructor(emit: Shared['emit']) {
    this.#release = emit;
  }

  emit = (event: RunEvent): void => this.#emit(event);

  /** Emits what was held back, and whatever follows at once. */
  release(): void {
    this.#emit = this.#release;
    for (const event of this.#held.splice(0)) this.#emit(begunEarly(event));
  }

  /** Emits nothing of this run, now or later. */
  drop(): void {
    this.#emit = () => undefined;
    this.#held.length = 0;
  }
}

const begunEarly = (event: RunEvent): RunEvent =>
  event.type === 'phase' && event.phase === 'render'
    ? { ...event, detail: 'begun while the host started' }
    : event;
