import type { ModuleContext, PlainDict, StateReturn } from './api.ts';

/** What a quick check is told about the run, beside the state's arguments. */
export type QuickCheckRun = {
  /** The state's saltenv. */
  readonly env: string;
  readonly test: boolean;
  /** `__context__` */
  readonly context: ModuleContext['context'];
};

/**
 * Does a state that a quick check found to be of the plainest kind. It is called in the state's
 * context. Where it throws, the state's function is called as if nothing had been done.
 */
export type QuickWork = () => StateReturn | Promise<StateReturn>;

/**
 * Finds out by the least that shows it whether a state has nothing to do. It changes nothing, waits
 * for nothing, and does not use `getContext()` or anything that does: it is called outside of the
 * state, for states that have neither conditions nor anything else that is done around them.
 *
 * @param args the state's arguments; their types have not been checked
 * @returns the comment of the state's answer, or what does the state's work; undefined for whatever
 *   only its function can tell or do, with that an argument that the check does not know
 */
export type QuickCheck = (args: PlainDict, run: QuickCheckRun) => string | QuickWork | undefined;

const quickCheckKey: unique symbol = Symbol('quick check');

// biome-ignore lint/suspicious/noExplicitAny: any state function may have one
type StateFunction = ((...args: any[]) => unknown) & { [quickCheckKey]?: QuickCheck };

/**
 * Gives a state function a quick check: it is asked first, and the function is called where it does
 * not know. A contract's wrapper of the function has none, so that the contract is kept.
 */
export const setQuickCheck = (fun: StateFunction, check: QuickCheck): void => {
  fun[quickCheckKey] = check;
};

export const quickCheckOf = (fun: StateFunction): QuickCheck | undefined => fun[quickCheckKey];

/** Whether all arguments are among those that a quick check knows. */
export const hasOnly = (args: PlainDict, known: ReadonlySet<string>): boolean => {
  for (const key of Object.keys(args)) if (!known.has(key)) return false;
  return true;
};
