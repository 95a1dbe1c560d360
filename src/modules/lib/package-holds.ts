import { isPlainDict } from '../../protocol/plain.ts';
import type { Plain, PlainDict, StateReturn } from '../api.ts';
import { hasFunction, messageOf, salt } from './call.ts';

/** Adds what holding the packages, or letting them go, came to. */
export const holdAfter = async (
  state: StateReturn,
  names: string[],
  hold: boolean,
): Promise<StateReturn> => {
  const action = hold ? 'pkg.hold' : 'pkg.unhold';
  if (!hasFunction(action)) return state;
  let results: { [name: string]: { changes: PlainDict; result: boolean | null; comment: string } };
  try {
    results = await salt(action)(null, { pkgs: names });
  } catch (error) {
    return {
      ...state,
      result: false,
      comment: `${state.comment}\nAn error was encountered while holding/unholding package(s): ${messageOf(error)}`,
    };
  }
  const merged: StateReturn = { ...state, changes: { ...state.changes } };
  for (const [name, { changes, result, comment }] of Object.entries(results)) {
    merged.comment = `${merged.comment}${merged.comment === '' ? '' : '\n'}${comment}`;
    if (result === false || (result === null && merged.result === true)) merged.result = result;
    if (Object.keys(changes).length > 0)
      merged.changes[name] = joinChanges(merged.changes[name], changes);
  }
  return merged;
};

const joinChanges = (before: Plain | undefined, added: PlainDict): PlainDict => {
  if (!isPlainDict(before)) return added;
  const join = (key: string): string =>
    [before[key], added[key]].filter(Boolean).map(String).join('\n');
  return { ...before, old: join('old'), new: join('new') };
};

export const heldPackages = async (): Promise<string[]> => {
  if (hasFunction('pkg.list_locks')) return Object.keys(await salt('pkg.list_locks')());
  if (hasFunction('pkg.list_holds')) return salt('pkg.list_holds')({ full: false });
  const selections: { [state: string]: string[] } = await salt('pkg.get_selections')({
    state: 'hold',
  });
  return selections.hold ?? [];
};
