import type { CallParams, NamesParams, RunParams } from '../../protocol/job.ts';
import type { Handler } from '../../protocol/peer.ts';
import type { RollbackRequest } from '../../protocol/rollback.ts';
import type { Session } from '../session/session.ts';
import type { Shutdown } from './shutdown.ts';

/**
 * The requests that a control node may make.
 *
 * @param hello resolves when the hello is ready: no request is answered before
 * @param onLast called when the control node says that it will send nothing else
 */
export const requestHandlers = (
  session: Session,
  shutdown: Shutdown,
  hello: Promise<unknown>,
  onLast: () => void,
): Readonly<Record<string, Handler>> => {
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    await hello;
    return shutdown.orCrash(work());
  };
  const beatAndAnswer = <T>(work: () => Promise<T>): Promise<T> => {
    shutdown.beat();
    return answer(work);
  };
  return {
    call: (params: CallParams) => {
      if (params.isLast) onLast();
      return beatAndAnswer(() => session.call(params));
    },
    names: (params: NamesParams) => beatAndAnswer(() => session.names(params)),
    run: (params: RunParams) => {
      const run = session.prepare(params);
      return beatAndAnswer(async () => {
        const result = await run();
        if (params.isLast && !result.restart) onLast();
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
