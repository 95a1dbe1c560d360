import { CommandExecutionError } from '../../api.ts';

/**
 * Ends the call of a function of Salt's that there is no use for here, with the reason.
 *
 * @param given the arguments it takes: their names are part of its signature
 */
export const notDone = (fun: string, why: string, ..._given: unknown[]): never => {
  throw new CommandExecutionError(`${fun} is not supported: ${why}.`);
};
