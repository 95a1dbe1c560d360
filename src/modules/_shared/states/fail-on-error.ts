import { CommandExecutionError, SaltInvocationError, type StateReturn } from '../../api.ts';
import { failed } from './returns.ts';

/** A failure of what the state works with is a failed state, not a broken run. */
export const failOnError = async (
  name: string,
  work: () => Promise<StateReturn>,
): Promise<StateReturn> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandExecutionError || error instanceof SaltInvocationError)
      return failed(name, error.message);
    throw error;
  }
};
