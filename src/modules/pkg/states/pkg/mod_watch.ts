import { failed } from '../../../_shared/states/returns.ts';
import type { PlainDict, StateReturn } from '../../../api.ts';
import { installed } from './installed.ts';
import { latest } from './latest.ts';
import { purged, removed } from './removed.ts';

/** Runs the state again: called by the engine when a watched state has changed. */
export const mod_watch = async (
  name: string,
  { sfun, ...options }: { sfun: string } & PlainDict,
): Promise<StateReturn> => {
  const states = new Map([
    ['purged', purged],
    ['latest', latest],
    ['removed', removed],
    ['installed', installed],
  ]);
  const state = states.get(sfun);
  return state
    ? state(name, options)
    : failed(name, `pkg.${sfun} does not work with the watch requisite`);
};
