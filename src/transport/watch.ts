import { onAbort } from '../protocol/on-abort.ts';
import type { BootstrapExchange } from './bootstrap-exchange.ts';
import { linkLost, runtimeStuck, tooLong } from './runtime-errors.ts';
import type { RuntimeOptions } from './runtime-link.ts';
import { cancelled } from './unreachable.ts';

/** Milliseconds for a host to end its processes when the run is cancelled. */
const goodbye = 200;

/** Milliseconds without any response after which a cancelled runtime is killed. */
const patience = 1500;

/** Milliseconds that killing such a runtime may take. */
const force = 3000;

/** After this many beats without a byte, the next one marks the link as lost; see `secondsBehind`. */
const beatsMissed = 3;

type Pulse = {
  /** Counts the bytes or messages received from the host. */
  readonly heard: () => number;
  readonly ping: () => void;
  readonly cancel: () => Promise<unknown>;
  /** Kills the runtime with a separate command; resolves with whether the host did so. */
  readonly kill: () => Promise<boolean>;
};

/**
 * Watches heartbeat, time limit and cancelling until the command ends.
 *
 * @returns a function that kills an unresponsive runtime
 */
export const watch = (
  { host, signal, timeouts }: RuntimeOptions,
  conversation: BootstrapExchange,
  { heard, ping, cancel, kill }: Pulse,
): ((reason: unknown, killed?: unknown) => void) => {
  // A module that never yields does not notice the end of the link: it would stay, with the lock.
  const endByForce = (reason: unknown, killed = reason): void => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<unknown>(resolve => {
      timer = setTimeout(() => resolve(reason), force);
    });
    // If the host carries out this command it is reachable: only the runtime is stuck.
    const done = kill().then(
      isDone => (isDone ? killed : reason),
      () => reason,
    );
    const why = Promise.race([done, late]).finally(() => clearTimeout(timer));
    conversation.expectEnd(why);
    void why.then(known => conversation.close(known));
  };
  const every = (timeouts?.heartbeat ?? 10) * 1000;
  // Beats are counted instead of time, which also passes while this process is stopped or busy.
  let last = heard();
  let pending = 0;
  let silent = 0;
  const beat = setInterval(() => {
    const isMoving = heard() !== last || conversation.pending < pending;
    silent = isMoving ? 0 : silent + 1;
    last = heard();
    pending = conversation.pending;
    // On a slow link a host answers late, since what it was sent arrives late.
    const missed = beatsMissed + Math.floor((conversation.secondsBehind * 1000) / every);
    const seconds = (every * missed) / 1000;
    if (silent > missed) endByForce(linkLost(host, seconds), runtimeStuck(host, seconds));
    else ping();
  }, every);
  const { total } = timeouts ?? {};
  const limit =
    total === undefined
      ? undefined
      : setTimeout(() => endByForce(tooLong(host, total)), total * 1000);
  const abort = (): void => {
    const told = performance.now();
    const before = heard();
    const close = (): void => conversation.close(cancelled(host.id));
    // After this request the host ends its processes at once; after a lost link it would let them
    // finish.
    cancel().then(close, close);
    ping();
    const look = (): void => {
      if (conversation.over) return;
      if (heard() > before) close();
      else if (performance.now() - told < patience) setTimeout(look, goodbye);
      else endByForce(cancelled(host.id));
    };
    setTimeout(look, goodbye);
  };
  const release = onAbort(signal, abort);
  void conversation.ended.then(() => {
    clearInterval(beat);
    clearTimeout(limit);
    release();
  });
  return endByForce;
};
