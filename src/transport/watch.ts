import type { Conversation } from './conversation.ts';
import { cancelled } from './faults.ts';
import { lost, tooLong } from './runtime-faults.ts';
import type { RuntimeOptions } from './runtime-link.ts';

/** Milliseconds that a host has to end its processes when the run is cancelled. */
const goodbye = 200;

type Pulse = {
  /** When the host was last heard, in milliseconds. */
  readonly heard: () => number;
  readonly ping: () => void;
  readonly cancel: () => Promise<unknown>;
};

/** Heartbeat, total time and cancelling, until the command ends. */
export const watch = (
  { host, signal, timeouts }: RuntimeOptions,
  conversation: Conversation,
  { heard, ping, cancel }: Pulse,
): void => {
  const every = (timeouts?.heartbeat ?? 10) * 1000;
  const began = Date.now();
  const beat = setInterval(() => {
    const silent = Date.now() - Math.max(began, heard());
    if (silent > every * 3) conversation.close(lost(host, (every * 3) / 1000));
    else ping();
  }, every);
  const { total } = timeouts ?? {};
  const limit =
    total === undefined
      ? undefined
      : setTimeout(() => conversation.close(tooLong(host, total)), total * 1000);
  const abort = (): void => {
    const close = (): void => conversation.close(cancelled(host.id));
    // Told so, the host ends its processes at once; of a lost link it would let them finish.
    cancel().then(close, close);
    setTimeout(close, goodbye);
  };
  signal?.addEventListener('abort', abort, { once: true });
  void conversation.ended.then(() => {
    clearInterval(beat);
    clearTimeout(limit);
    signal?.removeEventListener('abort', abort);
  });
};
