import { cancelled } from '../../transport/faults.ts';
import { pause } from './pause.ts';

/** The way to a host whose runtime may be gone by now. */
export type HostWay = {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Resolves when the link has ended by itself. */
  readonly ended: () => Promise<unknown>;
  readonly close: () => void;
};

/** Has the link ended by itself, or does it within this second? */
export const endsAtOnce = async ({
  ended,
  signal,
}: Pick<HostWay, 'ended' | 'signal'>): Promise<boolean> =>
  (await Promise.race([ended().then(() => true), pause(1000, signal)])) === true;

/**
 * Tries to reach a host again and again, each time from the start.
 *
 * @param every - Milliseconds between two attempts.
 * @param attempt - Undefined where the host is to be tried again.
 * @returns undefined when the time is over
 * @throws what the attempt throws, and TsaltError when the run is cancelled
 */
export const reachAgain = async <T>(
  { id, signal, close }: HostWay,
  { every, until }: { readonly every: number; readonly until: number },
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  for (;;) {
    close();
    if (signal.aborted) throw cancelled(id);
    const reached = await attempt();
    if (reached !== undefined) return reached;
    if (Date.now() + every > until) return undefined;
    await pause(every, signal);
  }
};
