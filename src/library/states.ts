import { TsaltError } from '../protocol/error.ts';
import type { HostFailure, HostResult } from '../protocol/event.ts';
import { isPlainDict, type Plain, type PlainDict, plainText } from '../protocol/plain.ts';
import type { StateResult } from '../protocol/result.ts';
import type { ProjectOptions, RunFlags, RunOptions, TargetSettings } from './options.ts';
import { run } from './run.ts';

/** Options of `compile` and `plan`. */
export type StateOptions = ProjectOptions &
  Omit<RunFlags, 'test'> &
  TargetSettings &
  Pick<RunOptions, 'signal'> & {
    /** The SLS, `'web,db'` or a list. Absent: those that the top file assigns to the host. */
    readonly mods?: string | readonly string[];
    /** Pillar that overrides the host's. */
    readonly pillar?: Readonly<Record<string, unknown>>;
    readonly saltenv?: string;
    readonly pillarenv?: string;
  };

/** A state in the form in which it would run, in the order of the run. */
export type LowState = {
  /** The state module, `file`. */
  readonly state: string;
  /** The function of the module, `managed`. */
  readonly fun: string;
  readonly name: Plain;
  readonly __id__: string;
  readonly __sls__?: string;
  readonly __env__?: string;
  readonly order?: number;
  /** Arguments and requisites. */
  readonly [argument: string]: Plain | undefined;
};

/** The result of `compile` for a host. */
export type CompiledHost = {
  /** The id of the host. */
  readonly id: string;
  /** Empty if there are `errors` or a `failure`. */
  readonly states: readonly LowState[];
  /** Why the states do not compile. */
  readonly errors: readonly string[];
  /** Why the host returned no result. */
  readonly failure?: HostFailure;
};

/** A state of a plan. */
export type PlannedState = {
  readonly tag: string;
  /** The ID in the SLS. */
  readonly id: string;
  /** The state module and its function, `file.managed`. */
  readonly fun: string;
  readonly name: string;
  readonly sls?: string;
  /** `changes`: a run would change something. `fails`: a run would fail here, or skip the state. */
  readonly prediction: 'unchanged' | 'changes' | 'fails';
  /** The changes, as far as the state function predicts them. */
  readonly changes: PlainDict;
  readonly comment: string;
};

/** The result of `plan` for a host. */
export type HostPlan = {
  /** The id of the host. */
  readonly id: string;
  /** In the order of the run. Empty if there are `errors` or a `failure`. */
  readonly states: readonly PlannedState[];
  /** True if a state would change something. */
  readonly hasChanges: boolean;
  /** Why the states do not compile, or why the run was refused. */
  readonly errors: readonly string[];
  /** Why the host returned no result. */
  readonly failure?: HostFailure;
};

/**
 * Compiles the states of every host that matches, and runs none of them: what
 * `state.show_lowstate` returns, or `state.show_low_sls` with `mods`. Hosts are asked for their
 * grains, and for what templates call.
 *
 *     for (const { id, states } of await compile({ target: 'web*' }))
 *       console.log(id, states.map(({ state, fun, name }) => `${state}.${fun} ${name}`));
 *
 * @throws TsaltError for what is wrong on this side: options, configuration, roster, target
 */
export const compile = async (options: StateOptions): Promise<readonly CompiledHost[]> => {
  const given = callOf(options);
  const fun = given.args.length > 0 ? 'state.show_low_sls' : 'state.show_lowstate';
  const results: readonly HostResult[] = await run<string>({ ...given, fun }).results();
  return results.map(result => {
    const found = Array.isArray(result.value) ? result.value : [];
    const errors = errorsOf(result, value => !isListOf(value, isPlainDict));
    return {
      id: result.id,
      states: errors.length > 0 ? [] : (found as LowState[]),
      errors,
      ...(result.failure ? { failure: result.failure } : {}),
    };
  });
};

/**
 * Predicts what `state.apply` would do on every host that matches, by its test mode. Nothing is
 * changed.
 *
 *     for (const { id, states } of await plan({ target: 'web*', mods: 'nginx' }))
 *       for (const { prediction, fun, name } of states)
 *         if (prediction !== 'unchanged') console.log(id, prediction, fun, name);
 *
 * @throws TsaltError for what is wrong on this side: options, configuration, roster, target
 */
export const plan = async (options: StateOptions): Promise<readonly HostPlan[]> => {
  const { kwargs, ...given } = callOf(options);
  const results: readonly HostResult[] = await run<string>({
    ...given,
    fun: 'state.apply',
    kwargs: { ...kwargs, test: true },
  }).results();
  return results.map(result => {
    const states = Object.entries(result.states ?? {}).map(plannedState);
    return {
      id: result.id,
      states,
      hasChanges: states.some(({ prediction }) => prediction === 'changes'),
      errors: errorsOf(result, value => value !== undefined),
      ...(result.failure ? { failure: result.failure } : {}),
    };
  });
};

/** Makes the arguments of a state function of the options. */
const callOf = (
  options: StateOptions,
): Omit<RunOptions, 'fun'> & {
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
} => {
  const { mods, pillar, saltenv, pillarenv, ...given } = options;
  const fixed = ['fun', 'args', 'kwargs', 'test'].find(name => Object.hasOwn(given, name));
  if (fixed !== undefined)
    throw new TsaltError('usage-option', `compile and plan have no option '${fixed}'.`, {
      hint: "Name the SLS by 'mods', or call run() with a function.",
    });
  const names = typeof mods === 'string' ? mods.split(',').map(name => name.trim()) : (mods ?? []);
  if (mods !== undefined && names.every(name => name === ''))
    throw new TsaltError('usage-value', "The option 'mods' names no SLS.", {
      hint: 'Leave it out for the states of the top file.',
    });
  return {
    ...given,
    args: names.length > 0 ? [names] : [],
    kwargs: { pillar, saltenv, pillarenv },
  };
};

const plannedState = ([tag, result]: [string, StateResult]): PlannedState => {
  const parts = tag.split('_|-');
  const { changes, comment, __id__, __sls__, name } = result;
  return {
    tag,
    id: __id__,
    fun: `${parts[0]}.${parts.at(-1)}`,
    name: plainText(name),
    ...(__sls__ === undefined ? {} : { sls: __sls__ }),
    prediction: predictionOf(result),
    changes,
    comment,
  };
};

const predictionOf = ({ result, changes }: StateResult): PlannedState['prediction'] => {
  if (result === false) return 'fails';
  const isChanged = result === null || (isPlainDict(changes) && Object.keys(changes).length > 0);
  return isChanged ? 'changes' : 'unchanged';
};

/** Returns the value of a host as errors if it is not what the function returns on success. */
const errorsOf = (
  { value, failure }: HostResult,
  isError: (value: Plain | undefined) => boolean,
): readonly string[] => {
  if (failure !== undefined || !isError(value)) return [];
  return Array.isArray(value) ? value.map(plainText) : [plainText(value)];
};

const isListOf = (value: Plain | undefined, isItem: (item: Plain) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem);
