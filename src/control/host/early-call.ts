import { splitFunctionName } from '../../data/signatures/function-name.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { CallResult } from '../../protocol/job.ts';
import type { Peer } from '../../protocol/peer.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import { mostGrains } from '../serve/host-limits.ts';
import { readCollected } from '../serve/reported-events.ts';
import type { HostAttempt } from './attempt.ts';
import type { HostRun } from './host-run.ts';
import { isKept } from './last-grains.ts';

/** A call that is sent with the command that starts the runtime, which saves a round trip. */
export type EarlyCall = {
  /** Nothing needs the host's grains, so it need not collect them. */
  readonly needsNoGrains: boolean;
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
  const needsNoGrains = doesWithoutGrains(run, attempt);
  let answer: Promise<CallResult> | undefined;
  return {
    needsNoGrains,
    send: peer => {
      answer = calls.callHost(fun, args.map(toPlain), toPlainDict(kwargs), {
        early: peer,
        needsNoGrains,
      });
      // The awaiting caller handles a failure. If the link is never established, nothing awaits
      // it.
      answer.catch(() => undefined);
    },
    answer: () => answer,
  };
};

/** Asks a runtime for the grains that its early call did not need. */
export const askGrains = async (peer: Peer): Promise<PlainDict> =>
  readCollected(await peer.request('grains', {}, undefined, mostGrains));

/**
 * Whether neither the run's function nor anything else reads grains. User modules could replace the
 * function or wrap it, a session could run states next, and the first run of a host keeps its grains
 * for later runs, `validate` and `--list-targets`.
 */
const doesWithoutGrains = (
  { shared: { request }, host, kept }: HostRun,
  { facts: { modules, opts, ownOnHost } }: HostAttempt,
): boolean => {
  const [module, name] = splitFunctionName(request.fun);
  if (kept || ownOnHost.length > 0) return false;
  if (isPlainDict(opts.providers) && Object.hasOwn(opts.providers, module)) return false;
  const found = modules.filter(
    ({ kind, file, virtualname, virtual = [] }) =>
      kind === 'exec' && [file, virtualname, ...virtual].includes(module),
  );
  return (
    found.length === 1 &&
    found[0]?.functions.some(fun => fun.name === name && fun.needsNoGrains) === true &&
    isKept(request.config, host)
  );
};
