import { createContext, Script } from 'node:vm';

/** Milliseconds that code of the user's may compute here without giving way. */
const longest = 60_000;

/** Code of the user's was ended: it computed without an end, or Ctrl-C was pressed. */
export class Ended extends Error {}

const script = new Script('work()');
const place: { work?: () => unknown } = {};
const context = createContext(place);

/**
 * Calls the user's code and ends it when it computes without an end, or when Ctrl-C is pressed,
 * which nobody else hears as long as it computes. It holds until the code first waits for something.
 *
 * @throws Ended
 */
export const bounded = <T>(work: () => T): T => {
  place.work = work;
  try {
    return script.runInContext(context, {
      timeout: longest,
      breakOnSigint: true,
      displayErrors: false,
    }) as T;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new Ended(`it computed for ${longest / 1000} seconds without an end`);
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    // The signal was used up here: the command line is to hear it, too, and before anything else is
    // computed. A signal sent anew would wait for the event loop, and be lost when code of the user's
    // runs before that: while it does, nobody listens.
    if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    throw new Ended('it was interrupted');
  }
};
