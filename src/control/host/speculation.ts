import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { Link } from '../../transport/runtime-link.ts';
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
  /**
   * As `commit`, for a host that said hello without grains. Call it once the run waits for the host.
   *
   * @returns undefined where the run has read grains; it goes on, and `commit` may follow
   */
  readonly commitWithoutGrains: (peer: Peer) => Speculated | undefined;
  /**
   * Resolves when the run can do no more without the host: to true if all is rendered, to false if
   * rendering asks the host for something, after which it may read grains.
   */
  readonly waits: Promise<boolean>;
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
 * @param commit resolves at the commit; before, nothing on the host may change
 */
export type Prepare = (shared: Shared, commit: Commit) => Speculated;

/** @param isRendered whether nothing remains but to run states */
type Commit = (isRendered: boolean) => Promise<Peer>;

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
  let wait: (isRendered: boolean) => void = () => undefined;
  const waits = new Promise<boolean>(resolve => {
    wait = resolve;
  });
  const { attempt, result } = prepare({ ...shared, emit: events.emit }, isRendered => {
    wait(isRendered);
    return committed;
  });
  const end = (): void => wait(true);
  // The caller of `commit` sees a failure. A discarded run fails unseen.
  result.then(end, end);
  const discard = (): void => {
    events.drop();
    attempt.close();
  };
  const go = (peer: Peer): Speculated => {
    events.release();
    connect(peer);
    return { attempt, result };
  };
  return {
    commit: (grains, peer) => (attempt.confirm(grains) ? go(peer) : void discard()),
    commitWithoutGrains: peer => (attempt.facts.leaveGrains() ? go(peer) : undefined),
    waits,
    discard,
  };
};

/**
 * Commits the run of a host that said hello without grains. If rendering has read a grain, the host is
 * asked for them first.
 *
 * @param link to the host; when it ends, asking fails
 * @returns undefined where the run was discarded
 */
export const commitUnread = async (
  speculation: Speculation | undefined,
  { peer, ended }: Pick<Link, 'peer' | 'ended'>,
  ask: (peer: Peer) => Promise<PlainDict>,
): Promise<Speculated | undefined> => {
  const isRendered = await Promise.race([speculation?.waits, ended.then(() => false)]);
  const speculated = isRendered && speculation?.commitWithoutGrains(peer);
  return speculated || speculation?.commit(await ask(peer), peer);
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
