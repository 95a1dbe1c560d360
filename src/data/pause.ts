import { ownTurn } from '../protocol/own-turn.ts';

/** Milliseconds of one turn of the event loop after which other work is due. */
const longest = 25;

/** When the turn began; undefined in turns that began with other work. */
let since: number | undefined;

/**
 * Lets other work continue (other hosts, signals, time limits) if this turn of the event loop has
 * taken long, or may have. For the gaps between steps whose amount of work a host may choose.
 */
export const pauseIfLong = async (): Promise<void> => {
  if (since !== undefined && performance.now() - since <= longest) return;
  await ownTurn();
  since = performance.now();
  setImmediate(() => {
    since = undefined;
  });
};
