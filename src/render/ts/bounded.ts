import { type Context, createContext, Script } from 'node:vm';

/** Milliseconds for which the user's code may compute here without yielding. */
const longest = 60_000;

/** The user's code was ended because it computed endlessly, or because Ctrl-C was pressed. */
export class Ended extends Error {}

const place: { work?: () => unknown } = {};
/** Made at first use: most runs have no code of the user. */
let made: { readonly script: Script; readonly context: Context } | undefined;

/**
 * Calls the user's code and ends it if it computes endlessly, or if Ctrl-C is pressed, which is not
 * noticed otherwise while it computes. The limit applies until the code first awaits something.
 *
 * @throws Ended
 */
export const bounded = <T>(work: () => T): T => {
  place.work = work;
  made ??= { script: new Script('work()'), context: createContext(place) };
  try {
    return made.script.runInContext(made.context, {
      timeout: longest,
      breakOnSigint: true,
      displayErrors: false,
    }) as T;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new Ended(`it computed for ${longest / 1000} seconds without an end`);
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    // The signal was consumed here. The command line must receive it, too, before anything else is
    // computed: a new signal would wait for the event loop, and be lost if user code runs before
    // that, since nothing receives signals then.
    if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    throw new Ended('it was interrupted');
  }
};
