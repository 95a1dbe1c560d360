import { cancelled } from '../../transport/unreachable.ts';
import { pause } from './pause.ts';

/** Reaches a host whose runtime may have ended. */
export type HostWay = {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Resolves when the link has ended by itself. */
  readonly ended: () => Promise<unknown>;
  readonly close: () => void;
};

/** Whether the link has ended by itself, or does so within a second. */
export const endsAtOnce = async ({
  ended,
  signal,
}: Pick<HostWay, 'ended' | 'signal'>): Promise<boolean> =>
  (await Promise.race([ended().then(() => true), pause(1000, signal)])) === true;

/**
 * Tries to reach a host repeatedly, each time from the beginning.
 *
 * @param every - Milliseconds between two attempts.
 * @param attempt - Returns undefined to try again.
 * @returns undefined when the time is up
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
