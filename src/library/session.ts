import { KeptRuntimes } from '../control/host/kept-runtimes.ts';
import { type FleetRun, type RunSource, startRun } from './fleet-run.ts';

/** Runs that share connections to hosts, and the runtimes there. */
export type RunSession = {
  readonly start: <F extends string>(source: RunSource) => FleetRun<F>;
  /** Ends the runtimes and closes the connections. */
  readonly close: () => void;
};

/** Opens a session: `connect` without its login, for commands that run several functions. */
export const openSession = (): RunSession => {
  const kept = new KeptRuntimes();
  return { start: source => startRun(source, kept), close: () => kept.close() };
};
