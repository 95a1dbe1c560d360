import { messageOf } from '../../protocol/error.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import type { Plain, PlainDict, StateReturn } from '../api.ts';

/** The result of holding or unholding packages. */
export type HoldOutcome = {
  readonly done: readonly HoldResult[];
  readonly already: readonly HoldResult[];
  readonly failed: readonly HoldResult[];
};

type HoldResult = { name: string; changes: PlainDict; result: boolean | null; comment: string };

/**
 * Holds or unholds packages; undefined if the manager does not support it.
 *
 * @throws CommandExecutionError if it fails
 */
export const changeHolds = async (
  names: string[],
  hold: boolean,
): Promise<HoldOutcome | undefined> => {
  const action = hold ? 'pkg.hold' : 'pkg.unhold';
  if (!hasFunction(action)) return undefined;
  const answers: { [name: string]: Omit<HoldResult, 'name'> } = await salt(action)(null, {
    pkgs: names,
  });
  const results = Object.entries(answers).map(([name, answer]) => ({ ...answer, name }));
  const isChange = ({ changes }: HoldResult): boolean => Object.keys(changes).length > 0;
  return {
    done: results.filter(one => isChange(one) || one.result === null),
    already: results.filter(one => !isChange(one) && one.result === true),
    failed: results.filter(({ result }) => result === false),
  };
};

/** Merges the changes and the result of the holds into a state return. */
export const withHolds = (state: StateReturn, outcome: HoldOutcome): StateReturn => {
  const changes = { ...state.changes };
  for (const one of outcome.done)
    if (Object.keys(one.changes).length > 0)
      changes[one.name] = joinChanges(changes[one.name], one.changes);
  const isPending = outcome.done.some(({ result }) => result === null) && state.result === true;
  const result = outcome.failed.length > 0 ? false : isPending ? null : state.result;
  return { ...state, changes, result };
};

/** Holds packages if their state had nothing else to do. */
export const holdAfter = async (
  state: StateReturn,
  names: string[],
  hold: boolean,
): Promise<StateReturn> => {
  try {
    const outcome = await changeHolds(names, hold);
    if (!outcome) return state;
    const lines = [...outcome.done, ...outcome.already, ...outcome.failed].map(one => one.comment);
    return { ...withHolds(state, outcome), comment: [state.comment, ...lines].join('.\n') };
  } catch (error) {
    return holdFailed(state, error);
  }
};

export const holdFailed = (state: StateReturn, error: unknown): StateReturn => ({
  ...state,
  result: false,
  comment: `${state.comment === '' ? '' : `${state.comment}\n`}An error was encountered while holding/unholding package(s): ${messageOf(error)}`,
});

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
