import { CommandExecutionError } from '../../api.ts';

/**
 * Fails the call of a Salt function that is not supported, with the reason.
 *
 * @param given the arguments it takes: their names are part of its signature
 */
export const notDone = (fun: string, why: string, ..._given: unknown[]): never => {
  throw new CommandExecutionError(`${fun} is not supported: ${why}.`);
};
