import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { CallResult, Restart, Resume } from '../../protocol/job.ts';
import { pause } from './pause.ts';
import { endsAtOnce, type HostWay, reachAgain } from './reach-again.ts';

/** The link as a restart needs it. */
export type RestartLink = HostWay & {
  /** Calls an execution function on the host. */
  readonly call: (
    fun: string,
    args: (string | number)[],
    kwargs: Record<string, string>,
  ) => Promise<CallResult>;
  /**
   * Logs in and starts the runtime again; returns the new boot id. Throws while the host is away.
   */
  readonly reopen: () => Promise<string>;
};

/** Between two attempts to reach a host that restarts. */
const every = 2000;
/** How long the link may take to end by itself: many hosts go down without closing it. */
const lingering = 5000;

/**
 * Restarts a host and waits until it is back with another boot id. If the restart does not begin,
 * that is reported to the state that asked for it.
 *
 * @throws TsaltError `restart-timeout` when the host stays away, `host-key` … as logging in does
 */
export const restartHost = async (
  link: RestartLink,
  restart: Restart,
): Promise<Pick<Resume, 'took' | 'failed'>> => {
  const begun = Date.now();
  const seconds = (): number => (Date.now() - begun) / 1000;
  const ended = link.ended();
  const failed = await begin({ ...link, ended: () => ended }, restart);
  if (failed !== undefined) return { took: seconds(), failed };
  const until = begun + restart.delay * 60_000 + restart.wait * 1000;
  await orUntil(ended, Math.min(until, begun + restart.delay * 60_000 + lingering), link.signal);
  await comeBack(link, restart, until);
  return { took: seconds() };
};

/**
 * Begins the restart. @returns why it failed; undefined if it began or the host went down at once
 */
const begin = async (
  link: RestartLink,
  { delay, message }: Restart,
): Promise<string | undefined> => {
  const when = delay === 0 ? 'now' : delay;
  const asked = link.call('system.reboot', [when], message ? { message } : {});
  try {
    await Promise.race([asked, link.ended()]);
    asked.catch(() => undefined);
    return undefined;
  } catch (error) {
    // The shutdown may have been faster than its response.
    return (await endsAtOnce(link)) ? undefined : messageOf(error);
  }
};

const comeBack = async (link: RestartLink, restart: Restart, until: number): Promise<void> => {
  let last = 'it could not be checked in time';
  const isBack = await reachAgain(link, { every, until }, async () => {
    try {
      if ((await link.reopen()) !== restart.boot) return true;
      last = 'it answers, but was not restarted yet';
    } catch (error) {
      if (error instanceof TsaltError && error.kind === 'host-key') throw error;
      last = messageOf(error);
    }
    return undefined;
  });
  if (isBack) return;
  link.close();
  throw new TsaltError(
    'restart-timeout',
    `${link.id} did not come back within ${restart.wait} s after its restart (wait): ${last}`,
    { kind: 'unreachable', hint: 'The states after the restart did not run; run them again.' },
  );
};

const orUntil = (work: Promise<unknown>, time: number, signal: AbortSignal): Promise<unknown> =>
  Promise.race([work, pause(Math.max(0, time - Date.now()), signal)]);
