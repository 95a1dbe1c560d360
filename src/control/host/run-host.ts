import type { HostResult } from '../../protocol/event.ts';
import { needsNoHost } from '../../wrapper/table.ts';
import { type HostRun, phase } from './host-run.ts';
import { HostSession } from './session.ts';

/**
 * Runs one host, stage by stage. Errors become part of the result: a failing host never throws.
 * Returns undefined if the host turned out not to be a target.
 */
export const runHost = async (run: HostRun): Promise<HostResult | undefined> => {
  const { fun, raw } = run.shared.request;
  const session = new HostSession(run);
  try {
    if (raw === undefined && !run.isTarget && needsNoHost(fun)) return await session.performHere();
    await session.open();
    if (raw !== undefined && !run.isTarget) return await session.performRaw(raw);
    await session.hello();
    if (!(await session.isTarget())) {
      await session.keepGrains();
      return undefined;
    }
    if (raw !== undefined) return await session.performRaw(raw);
    await session.complete();
    const result = await session.perform();
    await session.keepGrains();
    return result;
  } catch (error) {
    return session.failed(error);
  } finally {
    session.close();
    phase(run, 'done');
  }
};

/**
 * Logs in to a host whose grains or pillar decide whether it is a target, and runs nothing else.
 *
 * @throws the errors of a run: the host is unreachable, its login is refused …
 */
export const decideHost = async (run: HostRun): Promise<boolean> => {
  const session = new HostSession(run);
  try {
    await session.connect();
    await session.hello();
    return await session.isTarget();
  } finally {
    session.close();
  }
};
