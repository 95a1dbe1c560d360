import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { CallResult } from '../../protocol/job.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { HostAttempt } from './attempt.ts';
import type { HostRun } from './host-run.ts';

/** A call that is sent with the command that starts the runtime, which saves a round trip. */
export type EarlyCall = {
  readonly send: (peer: Peer) => void;
  readonly answer: () => Promise<CallResult> | undefined;
};

/**
 * Returns the run's function as an early call if it needs nothing from the host first. A function
 * that depends on grains (targets, pillar) has to wait.
 */
export const earlyCall = async (
  run: HostRun,
  attempt: HostAttempt,
): Promise<EarlyCall | undefined> => {
  const { fun, args, kwargs } = run.shared.request;
  const { calls } = attempt;
  if (run.isTarget || (await calls.wrapper(fun)) || (await calls.needsPillar())) return undefined;
  let answer: Promise<CallResult> | undefined;
  return {
    send: peer => {
      answer = calls.callHost(fun, args.map(toPlain), toPlainDict(kwargs), { early: peer });
      // The awaiting caller handles a failure. If the link is never established, nothing awaits
      // it.
      answer.catch(() => undefined);
    },
    answer: () => answer,
  };
};
