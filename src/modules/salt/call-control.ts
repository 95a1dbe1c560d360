import { lowTag } from '../../protocol/low.ts';
import { currentLow, getContext } from '../api.ts';

/** The tag of the state that runs: how the control node knows the step. */
export const currentTag = (): string => {
  const low = currentLow();
  return low === undefined ? '' : lowTag(low);
};

/**
 * Has the control node do a part of the step.
 *
 * @throws Error on a host: only the control node orchestrates
 */
export const callControl = async <T>(method: string, params: unknown): Promise<T> => {
  const { control, opts } = getContext();
  if (!control || opts.orchestrates !== true)
    throw new Error(
      'The states of `salt` are steps of an orchestration, which runs on the control node: tsalt-ssh --orch SLS',
    );
  return control.request<T>(method, params);
};
