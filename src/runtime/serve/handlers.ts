import type { CallParams, NamesParams, RunParams } from '../../protocol/job.ts';
import type { Handler } from '../../protocol/peer.ts';
import type { RollbackRequest } from '../../protocol/rollback.ts';
import type { Session } from '../session/session.ts';
import type { Shutdown } from './shutdown.ts';

/** Follows the request after which the control node sends nothing else. */
export type LastRequest = {
  readonly begins: () => void;
  /** More requests will follow, since it did not end as expected. */
  readonly goesOn: () => void;
};

/**
 * The requests that a control node may make.
 *
 * @param hello resolves when the hello is ready: no request is answered before
 * @param link is told of the last request
 * @returns by method
 */
export const requestHandlers = (
  session: Session,
  shutdown: Shutdown,
  hello: Promise<unknown>,
  link: LastRequest,
): Readonly<Record<string, Handler>> => {
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    await hello;
    return shutdown.orCrash(work());
  };
  const beatAndAnswer = <T>(work: () => Promise<T>): Promise<T> => {
    shutdown.beat();
    return answer(work);
  };
  const finish = <T>(isLast: true | undefined, work: () => Promise<T>): Promise<T> => {
    if (!isLast) return beatAndAnswer(work);
    link.begins();
    return beatAndAnswer(work);
  };
  return {
    call: (params: CallParams) => finish(params.isLast, () => session.call(params)),
    names: (params: NamesParams) => beatAndAnswer(() => session.names(params)),
    run: (params: RunParams) => {
      const run = session.prepare(params);
      return finish(params.isLast, async () => {
        const result = await run();
        if (result.restart) link.goesOn();
        return result;
      });
    },
    grains: () => answer(() => session.grains()),
    guard: (params: RollbackRequest) => answer(() => session.settleGuard(params)),
    cancel: async () => {
      await shutdown.cancel();
      return null;
    },
  };
};
