import { ownTurn } from '../protocol/own-turn.ts';

/** Milliseconds of one turn of the event loop after which other work is due. */
const longest = 50;

/** When the turn was first asked about. */
let since: number | undefined;

/**
 * Lets other work continue (other hosts, signals, time limits) if this turn of the event loop has
 * taken long. For the gaps between steps whose amount of work a host may choose.
 */
export const pauseIfLong = async (): Promise<void> => {
  const now = performance.now();
  if (since === undefined) {
    since = now;
    setImmediate(() => {
      since = undefined;
    });
  } else if (now - since > longest) await ownTurn();
};
