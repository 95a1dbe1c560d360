/**
 * Salt's mine, which nobody keeps here. States of formulas that fill it by `module.run` go on: it is
 * said in the log that nothing was kept.
 */
import { log, type Plain } from '../../api.ts';

type Named = { [argument: string]: Plain };

const notKept = (what: string, ..._arguments: unknown[]): true => {
  log.warning(`${what}: nothing is kept, no minion runs that could keep a mine`);
  return true;
};

/**
 * Keeps nothing, and says so in the log.
 *
 * @param name the function whose answer was to be kept
 * @example
 * addresses:
 *   module.run:
 *     - mine.send:
 *       - network.ip_addrs
 */
export const send = async (
  name: string,
  { ...named }: Named,
  ...given: Plain[]
): Promise<boolean> => notKept(`mine.send ${name}`, named, given);

/**
 * Keeps nothing, and says so in the log.
 *
 * @example
 * mine:
 *   module.run:
 *     - mine.update: []
 */
export const update = async ({ ...named }: Named, ...given: Plain[]) =>
  notKept('mine.update', named, given);
