import { createContext, Script } from 'node:vm';

/** Milliseconds that the code of an SLS may compute without giving way. */
const longest = 60_000;
const script = new Script('work()');
const place: { work?: () => unknown } = {};
const context = createContext(place);

/**
 * Calls the user's code and ends it when it computes without an end. It holds until the code
 * first waits for something.
 *
 * @throws Error when the code was ended
 */
export const bounded = <T>(work: () => T): T => {
  place.work = work;
  try {
    return script.runInContext(context, { timeout: longest, displayErrors: false }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(`it computed for ${longest / 1000} seconds without an end`);
  }
};
