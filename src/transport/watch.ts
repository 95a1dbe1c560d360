import type { BootstrapExchange } from './conversation.ts';
import { cancelled } from './faults.ts';
import { onAbort } from './on-abort.ts';
import { lost, stuck, tooLong } from './runtime-faults.ts';
import type { RuntimeOptions } from './runtime-link.ts';

/** Milliseconds that a host has to end its processes when the run is cancelled. */
const goodbye = 200;

/** Milliseconds after which a runtime that says nothing at all is taken for one that never will. */
const patience = 1500;

/** Milliseconds that ending such a runtime may take. */
const force = 3000;

/** Beats without a byte after which a link counts as lost with the next one. */
const beatsMissed = 3;

type Pulse = {
  /** How often the host was heard. */
  readonly heard: () => number;
  readonly ping: () => void;
  readonly cancel: () => Promise<unknown>;
  /** Ends the runtime from outside; resolves with whether the host did so. */
  readonly kill: () => Promise<boolean>;
};

/**
 * Heartbeat, total time and cancelling, until the command ends.
 *
 * @returns what ends a runtime that does not answer
 */
export const watch = (
  { host, signal, timeouts }: RuntimeOptions,
  conversation: BootstrapExchange,
  { heard, ping, cancel, kill }: Pulse,
): ((reason: unknown, killed?: unknown) => void) => {
  // A module that never gives way hears no end of the link either: it would stay, with the lock.
  const endByForce = (reason: unknown, killed = reason): void => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<unknown>(resolve => {
      timer = setTimeout(() => resolve(reason), force);
    });
    // A host that carries out this command can be reached: only the runtime is stuck.
    const done = kill().then(
      isDone => (isDone ? killed : reason),
      () => reason,
    );
    const why = Promise.race([done, late]).finally(() => clearTimeout(timer));
    conversation.expectEnd(why);
    void why.then(known => conversation.close(known));
  };
  const every = (timeouts?.heartbeat ?? 10) * 1000;
  // Beats are counted, not time: while this process stood still, or was busy, nobody was listening.
  let last = heard();
  let silent = 0;
  const beat = setInterval(() => {
    silent = heard() === last ? silent + 1 : 0;
    last = heard();
    const seconds = (every * beatsMissed) / 1000;
    if (silent > beatsMissed) endByForce(lost(host, seconds), stuck(host, seconds));
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
    // Told so, the host ends its processes at once; of a lost link it would let them finish.
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
