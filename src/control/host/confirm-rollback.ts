import { randomBytes } from 'node:crypto';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import type { Peer } from '../../protocol/peer.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import {
  type RollbackParams,
  type RollbackRequest,
  type RollbackResult,
  readRollbackResult,
} from '../../protocol/rollback.ts';
import { readable } from '../../transport/unreachable.ts';
import { endsAtOnce, type HostWay, reachAgain } from './reach-again.ts';

/** The link as the end of a guarded run needs it. */
export type RollbackLink = HostWay & {
  /** Logs in and starts the runtime again. */
  readonly reopen: () => Promise<Peer>;
};

/** Between two attempts to reach a host, in milliseconds. */
const every = 1000;
/** How long a host may take to roll back and to be reachable again, in milliseconds. */
const revertWithin = 120_000;

/** Returns the rollback parameters that are sent to a host. */
export const rollbackParams = (
  { user, sudo, sudo_user }: Host,
  seconds: number,
  paths: readonly string[],
): RollbackParams => ({
  id: randomBytes(8).toString('hex'),
  seconds,
  users: [...new Set([user, ...(sudo ? [sudo_user ?? 'root'] : [])])],
  paths,
});

/**
 * Carries out a guarded run of states, then logs in again: changes are confirmed only if that
 * succeeds.
 *
 * @throws TsaltError `run-reverted` if the host rolled back, or the error of the run
 */
export const runWithRollback = async <T>(
  link: RollbackLink,
  guard: RollbackParams,
  run: () => Promise<T>,
): Promise<T> => {
  let answer: T;
  try {
    answer = await run();
  } catch (error) {
    if (!(await endsAtOnce(link)) || link.signal.aborted) throw error;
    const { outcome } = await settle(link, guard, false);
    throw reverted(link.id, `the connection was lost: ${messageOf(error)}`, outcome);
  }
  const { outcome, last } = await settle(link, guard, true);
  if (outcome.confirmed) return answer;
  const why = last === undefined ? '' : ` (${last})`;
  throw reverted(
    link.id,
    `it was not reached within ${guard.seconds} s after its states${why}`,
    outcome,
  );
};

type Settled = { readonly outcome: RollbackResult; readonly last?: string };

const settle = async (
  link: RollbackLink,
  guard: RollbackParams,
  keep: boolean,
): Promise<Settled> => {
  const until = Date.now() + guard.seconds * 1000 + revertWithin;
  let last: string | undefined;
  const outcome = await reachAgain(link, { every, until }, async () => {
    try {
      return await askOutcome(await link.reopen(), { id: guard.id, keep });
    } catch (error) {
      if (error instanceof TsaltError && ['guard-unknown', 'wire-protocol'].includes(error.code))
        throw error;
      last = messageOf(error);
      return undefined;
    }
  });
  if (outcome) return { outcome, ...(last === undefined ? {} : { last }) };
  throw new TsaltError(
    'guard-lost',
    `${link.id} was not reached after its guarded run, nor after it should have rolled back: ${last}`,
    {
      kind: 'unreachable',
      hint: 'Check the host itself: its next run reports what it restored.',
    },
  );
};

const askOutcome = async (peer: Peer, end: RollbackRequest): Promise<RollbackResult> => {
  const outcome = readRollbackResult(await peer.request<unknown>('guard', end));
  if (outcome) return outcome;
  throw new TsaltError('wire-protocol', 'The host sent a malformed response about its rollback.', {
    kind: 'host',
  });
};

const reverted = (id: string, why: string, { restored, problems }: RollbackResult): TsaltError => {
  const back = restored.length > 0 ? restored.join(', ') : 'nothing, since nothing had changed';
  const text = [`${id} rolled back, since ${why}. Restored: ${back}.`, ...problems];
  return new TsaltError('run-reverted', readable(text.join(' '), 4000), {
    kind: 'host',
    hint: 'Other changes of the states remain. Correct the states and run them again.',
  });
};

/** The option `guard_paths`: more files and folders that a rollback restores. */
export const rollbackPaths = ({ guard_paths: said }: PlainDict): string[] => {
  const paths = said === undefined || said === null ? [] : [said].flat();
  const wrong = paths.find(path => typeof path !== 'string' || !/^\/+[^/]/.test(path));
  if (wrong === undefined) return paths.map(String);
  throw new TsaltError(
    'config-guard-paths',
    `guard_paths must be a list of absolute paths, not ${JSON.stringify(wrong)}.`,
    { kind: 'usage' },
  );
};
