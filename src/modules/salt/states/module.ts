/**
 * Execution functions as states: `module.run` calls them always, `module.wait` when something
 * they watch has changed.
 */

import { messageOf } from '../../../protocol/error.ts';
import { isPlainDict, setOwn } from '../../../protocol/plain.ts';
import { mergeWholeFloats } from '../../../protocol/whole-floats.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import {
  __opts__,
  __salt__,
  Kwargs,
  kwargs as keywords,
  type Plain,
  type PlainDict,
  type StateReturn,
  untyped,
} from '../../api.ts';
import { withShellOfStates } from '../shell-default.ts';

type Arguments = { [key: string]: Plain | undefined };

/** Arguments that an older form of `module.run` prefixes, since a state has its own of that name. */
const prefixed = ['name', 'names', 'fun', 'state', 'saltenv'];

/**
 * Does nothing; its `mod_watch` calls the functions.
 * @param name the function, in the older form
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const wait = (name: string, {}: Arguments = {}): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment: '',
});

/** Alias of `wait`. */
export const watch = wait;

/**
 * Calls one or more functions. Each key with a dot is one: `- test.echo: [hello]`, its list
 * holds positional arguments and dictionaries of keywords. In the older form `name` is the
 * function and its arguments are arguments of the state (`m_name` where the state has the name).
 * A command line of `cmd.run` and its kin has a shell only with `python_shell: true`.
 * @param name the function, in the older form
 */
export const run = (name: string, { ...rest }: Arguments = {}): Promise<StateReturn> => {
  const calls = Object.keys(rest).filter(key => key !== 'sfun');
  const isNew = calls.length > 0 && calls.every(key => key.includes('.'));
  return isNew ? runAll(calls, rest) : runNamed(name, rest);
};

/** Called for `wait` and `run` when something they watch has changed. */
export const mod_watch = run;

const runAll = async (calls: readonly string[], rest: Arguments): Promise<StateReturn> => {
  const ret = { name: calls as unknown as string, changes: {} as PlainDict };
  const nameOf = (key: string): string => key.split(':')[0] ?? key;
  const missing = calls.map(nameOf).filter(fun => !(fun in __salt__));
  const tested = __opts__.test ? calls.map(nameOf).filter(fun => fun in __salt__) : [];
  if (missing.length > 0 || tested.length > 0) {
    const comment = [
      missing.length > 0 ? `Unavailable function${plural(missing)}: ${missing.join(', ')}.` : '',
      tested.length > 0 ? `Function${plural(tested)} ${tested.join(', ')} to be executed.` : '',
    ];
    return {
      ...ret,
      result: missing.length > 0 ? false : null,
      comment: comment.join(' ').trim(),
    };
  }
  const failures: string[] = [];
  const successes: string[] = [];
  for (const key of calls) {
    try {
      const answer = await call(nameOf(key), rest[key]);
      if (succeeded(answer)) {
        successes.push(
          `${key}: ${isPlainDict(answer) ? commentOf(answer, 'Success') : plainStr(answer)}`,
        );
        ret.changes[key] = answer;
      } else if (isPlainDict(answer))
        failures.push(`'${key}' failed: ${commentOf(answer, '(error message N/A)')}`);
      else failures.push(`'${key}': ${plainStr(answer)}`);
    } catch (error) {
      failures.push(`'${key}' failed: ${messageOf(error)}`);
    }
  }
  return {
    ...ret,
    result: failures.length === 0,
    comment: [...failures, ...successes].join(', '),
  };
};

const plural = (list: readonly unknown[]): string => (list.length > 1 ? 's' : '');

const commentOf = (answer: PlainDict, otherwise: string): string =>
  Object.hasOwn(answer, 'comment') ? plainStr(answer.comment) : otherwise;

const call = async (fun: string, given: Plain | undefined): Promise<Plain> => {
  const items = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given];
  const positional = items.filter(item => !isPlainDict(item));
  const named: PlainDict = mergeWholeFloats(...items.filter(isPlainDict));
  const kwargs = withShellOfStates(fun, positional, named, __opts__);
  const answer: Plain | undefined = await untyped(__salt__)[fun]?.(...positional, keywords(kwargs));
  return answer ?? null;
};

/** The older form: one function, whose arguments stand among those of the state. */
const runNamed = async (name: string, rest: Arguments): Promise<StateReturn> => {
  const failed = (comment: string): StateReturn => ({ name, changes: {}, result: false, comment });
  if (!(name in __salt__)) return failed(`Module function ${name} is not available`);
  if (__opts__.test)
    return {
      name,
      changes: {},
      result: null,
      comment: `Module function ${name} is set to execute`,
    };
  const { sfun: _, args, kwargs, returner, ...others } = rest;
  if (returner !== undefined)
    return failed('The argument "returner" is not supported: tsalt-ssh has no returners.');
  const named: PlainDict = {};
  for (const [key, value] of Object.entries(others))
    if (value !== undefined) {
      const isPrefixed = key.startsWith('m_') && prefixed.includes(key.slice(2));
      setOwn(named, isPrefixed ? key.slice(2) : key, value);
    }
  if (kwargs !== undefined && !isPlainDict(kwargs)) return failed("'kwargs' must be a dict.");
  if (args !== undefined && !Array.isArray(args)) return failed("'args' must be a list.");
  const given = withShellOfStates(name, args ?? [], { ...named, ...kwargs }, __opts__);
  const warnings: string[] = [];
  const leftOut = (names: readonly string[]): void => {
    warnings.push(`${name} has no argument ${names.join(', ')}: left out.`);
  };
  try {
    const answer: Plain =
      (await untyped(__salt__)[name]?.(...(args ?? []), new Kwargs(given, leftOut))) ?? null;
    return {
      name,
      changes: { ret: answer },
      result: succeeded(answer),
      comment: `Module function ${name} executed`,
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  } catch (error) {
    const why = messageOf(error);
    return failed(`Module function ${name} threw an exception. Exception: ${why}`);
  }
};

/** A function failed when it says so: false, a return code, or `result: false` anywhere inside. */
const succeeded = (answer: Plain): boolean => {
  if (typeof answer === 'boolean') return answer;
  if (!isPlainDict(answer)) return true;
  if (typeof answer.retcode === 'number' && answer.retcode !== 0) return false;
  if (typeof answer.result === 'boolean') return answer.result;
  return !holdsFailure(answer);
};

const holdsFailure = (node: PlainDict): boolean =>
  Object.entries(node).some(
    ([key, value]) =>
      (key === 'result' && value === false) || (isPlainDict(value) && holdsFailure(value)),
  );
