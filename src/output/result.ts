import { messageOf, showError, TsaltError } from '../protocol/error.ts';
import type { Fault, HostResult } from '../protocol/event.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from '../protocol/plain.ts';
import type { StateResult, StateResults } from '../protocol/result.ts';

/** The result of a host as outputters show it: its data, or why there is none. */
export const resultData = (given: HostResult): Plain => {
  const result = withCauses(given);
  if (result.states !== undefined) return hideResultSecrets(result.states) as PlainDict;
  return result.failure === undefined ? (result.value ?? null) : result.failure.message;
};

/** The replacement for a result that cannot be shown, since hosts are untrusted. */
export const unshowable = ({ id, fun, retcode }: HostResult, error: unknown): HostResult => ({
  id,
  fun,
  retcode,
  failure: {
    kind: 'host',
    code: 'unshowable',
    message: `${id}: the result of the host cannot be shown: ${messageOf(error)}.`,
  },
});

/** Several hosts' data in one dictionary by id. */
export const dataByHost = (results: readonly HostResult[]): PlainDict => {
  const data: PlainDict = {};
  for (const result of results) setOwn(data, result.id, resultData(result));
  return data;
};

/** A state run's results: what was asked for is a mapping of tags. */
export const stateResults = (result: HostResult): StateResults | undefined =>
  result.states === undefined ? undefined : hideResultSecrets(withCauses(result).states ?? {});

const hidden = 'The output of this state is hidden (no_log).';

/** States with `no_log` show their outcome and nothing else, whatever the host sent. */
export const hideResultSecrets = (states: StateResults): StateResults => {
  const shown: StateResults = {};
  for (const [tag, result] of Object.entries(states))
    setOwn(shown, tag, isSecret(result) ? hide(result) : result);
  return shown;
};

const isSecret = (result: StateResult): boolean => isPlainDict(result) && result.no_log === true;

export const hide = (result: StateResult): StateResult => {
  const { __id__, __sls__, __run_num__, start_time, duration, name } = result;
  return {
    name,
    changes: Object.keys(result.changes).length > 0 ? { hidden: true } : {},
    result: result.result,
    comment: hidden,
    __id__,
    __sls__,
    __run_num__,
    start_time,
    duration,
    no_log: true,
  };
};

/**
 * Returns a result with the location and cause of each error: Salt's messages omit the location,
 * and leave the cause to a log.
 */
export const withCauses = (result: HostResult): HostResult => {
  const { value, states, problems = [] } = result;
  if (problems.length === 0) return result;
  if (states !== undefined) return { ...result, states: withComments(states, problems) };
  const texts = new Map(
    problems.map(fault => [fault.message, explain({ ...fault, hint: undefined })]),
  );
  const told = (list: readonly Plain[]): Plain[] =>
    list.map(item => (typeof item === 'string' ? (texts.get(item) ?? item) : item));
  if (Array.isArray(value)) return { ...result, value: told(value) };
  if (value === undefined || !isPlainDict(value) || !Array.isArray(value._errors)) return result;
  return { ...result, value: { ...value, _errors: told(value._errors) } };
};

const log = ' Please see master log for details.';

/** Adds the reasons to the only state, which reports that no states exist. */
const withComments = (states: StateResults, problems: readonly Fault[]): StateResults => {
  const tag = Object.keys(states).find(name => name.startsWith('no_|-'));
  const state = tag === undefined ? undefined : states[tag];
  if (tag === undefined || typeof state?.comment !== 'string') return states;
  const { comment } = state;
  const known = problems.find(({ message }) => comment.endsWith(message));
  const start = known ? comment.slice(0, -known.message.length) : `${comment.replace(log, '')}\n`;
  return {
    ...states,
    [tag]: { ...state, comment: start + hintsOnce(problems).map(explain).join('\n') },
  };
};

/** A run that did not compile, for the user: with locations, excerpts and hints. */
export const forPeople = (result: HostResult): HostResult => {
  const { problems, value } = result;
  if (problems === undefined || problems.length === 0 || !Array.isArray(value)) return result;
  const told = new Set(problems.map(({ message }) => message));
  return {
    ...result,
    value: [...value.filter(text => !told.has(String(text))), ...errorTexts(result)],
  };
};

/** The errors for standard error, where the output contains fewer details. */
export const errorTexts = ({ problems = [] }: HostResult): string[] =>
  hintsOnce(problems).map(explain);

/** Removes repeated hints: a hint of several errors is shown once, after the last of them. */
const hintsOnce = (faults: readonly Fault[]): Fault[] => {
  const told = new Set<string>();
  const kept = faults.toReversed().map(fault => {
    const lines = fault.hint?.split('\n').filter(line => !told.has(line)) ?? [];
    for (const line of lines) told.add(line);
    return { ...fault, hint: lines.length > 0 ? lines.join('\n') : undefined };
  });
  return kept.reverse();
};

const explain = ({ message, sentence, at, hint, excerpt }: Fault): string =>
  showError(new TsaltError('compile', sentence ?? message, { at, hint, excerpt }));
