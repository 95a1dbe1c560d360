/**
 * The steps of an orchestration: states and functions on hosts of the roster, in the order that the
 * requisites between them ask for. They run on the control node:
 *
 *     tsalt-ssh --orch deploy
 *
 * Where a host applies an SLS with these states, they fail.
 */

import { messageOf } from '../../../protocol/error.ts';
import type {
  EventsSeen,
  EventWait,
  OrchestrationStep,
  StepReturn,
  StepReturns,
} from '../../../protocol/orchestration.ts';
import { isPlainDict, setOwn } from '../../../protocol/plain.ts';
import { failed, newReturn, would } from '../../_shared/states/returns.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import {
  __opts__,
  __salt__,
  currentLow,
  type Plain,
  type PlainDict,
  type StateReturn,
  untyped,
} from '../../api.ts';
import { callControl, currentTag } from '../call-control.ts';
import { anyHasChanges, hasRunChanges, reasonsOf, refuseRunner, runNested } from '../nested-run.ts';

export const __func_alias__ = { function_: 'function' };

type Target = string | string[];

/** Arguments that all steps on hosts take. */
type StepOptions = {
  /** the type of the target: glob, list, grain, compound … */
  tgt_type?: string;
  /** not supported: results are part of the orchestration's */
  ret?: Plain;
  /** not supported, as `ret` */
  ret_config?: Plain;
  /** not supported, as `ret` */
  ret_kwargs?: Plain;
  expect_minions?: boolean;
  /** ids of hosts that may fail: a list, or a text with commas */
  fail_minions?: Plain;
  /** seconds that one host may take */
  timeout?: number | null;
  /** how many hosts run at once: a number, or a part such as 25% */
  batch?: number | string | null;
  /** run on this many hosts of the target, chosen at random */
  subset?: number | null;
  /** begin no further host after the first that failed */
  failhard?: boolean | null;
  /** has no effect: all hosts are reached over SSH */
  ssh?: boolean;
  /** has no effect: the hosts are those of the run's roster */
  roster?: string | null;
};

/**
 * Applies SLS, the highstate, or another top file to hosts.
 *
 * @param name a name for the step
 * @param tgt the target: an expression, or a list of ids
 * @param highstate apply the SLS that the top file lists for each host
 * @param sls the SLS to apply: a list, or a text with commas
 * @param top apply the SLS that this top file lists for each host
 * @param saltenv the environment of the SLS
 * @param test true: change nothing, and predict. Default: whether the orchestration runs in test mode
 * @param pillar pillar data for this step
 * @param pillarenv the environment of the pillar
 * @param exclude SLS or IDs to leave out
 * @param expect_minions whether the step fails where no host matches
 * @param allow_fail how many hosts may fail
 * @param concurrent run beside another run of states on a host
 * @param queue wait for another run of states on a host
 * @param orchestration_jid has no effect
 *
 * @example
 * database:
 *   salt.state:
 *     - tgt: 'db*'
 *     - sls: postgres
 *
 * web servers:
 *   salt.state:
 *     - tgt: 'web*'
 *     - highstate: True
 *     - batch: 25%
 *     - require:
 *       - salt: database
 */
export const state = async (
  name: string,
  tgt: Target,
  {
    highstate = null,
    sls = null,
    top = null,
    saltenv = null,
    test = null,
    pillar = null,
    pillarenv = null,
    exclude = null,
    allow_fail = 0,
    concurrent = false,
    queue = false,
    expect_minions = true,
    orchestration_jid: _jid = null,
    ...step
  }: StepOptions & {
    highstate?: boolean | null;
    sls?: string | string[] | null;
    top?: string | null;
    saltenv?: string | null;
    test?: boolean | null;
    pillar?: PlainDict | null;
    pillarenv?: string | null;
    exclude?: Plain;
    allow_fail?: Plain;
    concurrent?: Plain;
    queue?: Plain;
    orchestration_jid?: Plain;
  } = {},
): Promise<StateReturn> => {
  const allowed = Number.parseInt(plainStr(allow_fail), 10);
  if (Number.isNaN(allowed))
    return failed(name, "Passed invalid value for 'allow_fail', must be an int");
  const call = callOf(highstate, top, sls);
  if (!call) return failed(name, 'No highstate or sls specified, no execution made');
  if (typeof concurrent !== 'boolean')
    return failed(name, "Must pass in boolean for value of 'concurrent'");
  const isTest = test ?? __opts__.test;
  // Salt takes no change for certain within an orchestration in test mode.
  const isPredicted = isTest || __opts__.test;
  const kwarg: PlainDict = {
    ...(test !== null || isTest ? { test: isTest } : {}),
    ...(pillar && Object.keys(pillar).length > 0 ? { pillar } : {}),
    ...(pillarenv === null ? {} : { pillarenv }),
    ...(saltenv === null ? {} : { saltenv }),
    ...(exclude === null ? {} : { exclude }),
    queue,
    concurrent,
  };
  const warnings: string[] = [];
  const returns = await runStep({ ...call, kwarg, tgt, step, warnings });
  const ret: StateReturn = { ...newReturn(name), ...(warnings.length > 0 ? { warnings } : {}) };
  if (Object.keys(returns).length === 0 && expect_minions)
    return failed(ret, 'No minions returned');
  const mayFail = namesOf(step.fail_minions, warnings);
  const { fails, changes, same } = sortReturns(returns, mayFail);
  if (Object.keys(changes).length > 0) ret.changes = { out: 'highstate', ret: changes };
  if (warnings.length > 0) ret.warnings = warnings;
  if (fails.length > allowed) return failed(ret, `Run failed on minions: ${fails.join(', ')}`);
  const updated = Object.keys(changes);
  ret.comment = [
    'States ran successfully.',
    ...(updated.length > 0 ? [`Updating ${updated.join(', ')}.`] : []),
    ...(same.length > 0 ? [`No changes made to ${same.join(', ')}.`] : []),
  ].join(' ');
  return isPredicted && updated.length > 0 ? { ...ret, result: null } : ret;
};

const callOf = (
  highstate: boolean | null,
  top: string | null,
  sls: string | string[] | null,
): Pick<OrchestrationStep, 'fun' | 'arg'> | undefined => {
  if (highstate) return { fun: 'state.highstate', arg: [] };
  if (top) return { fun: 'state.top', arg: [top] };
  if (!sls || sls.length === 0) return undefined;
  return { fun: 'state.sls', arg: [Array.isArray(sls) ? sls.join(',') : sls] };
};

/** Hosts that failed, runs of states with changes or failures, and hosts without changes. */
const sortReturns = (
  returns: StepReturns,
  mayFail: readonly string[],
): { fails: string[]; changes: PlainDict; same: string[] } => {
  const sorted = { fails: [] as string[], changes: {} as PlainDict, same: [] as string[] };
  for (const [host, answer] of Object.entries(returns)) {
    const isWell = answer.failed === undefined && areWell(answer.ret);
    if (!isWell && !mayFail.includes(host)) sorted.fails.push(host);
    if (!isWell || anyHasChanges(answer.ret))
      setOwn(sorted.changes, host, answer.failed ?? answer.ret);
    else sorted.same.push(host);
  }
  return sorted;
};

/**
 * Runs an execution function on hosts.
 *
 * @param name the function, such as `cmd.run`
 * @param tgt the target: an expression, or a list of ids
 * @param arg the arguments of the function, a list
 * @param kwarg its keyword arguments, a dictionary
 * @param expect_minions has no effect: a step without any host fails
 * @param fail_function a function that is called with each return, and returns false for a failure
 * @example
 * drain web1:
 *   salt.function:
 *     - name: cmd.run
 *     - tgt: lb1
 *     - arg:
 *       - haproxyctl disable server web/web1
 */
export const function_ = async (
  name: string,
  tgt: Target,
  {
    arg = null,
    kwarg = null,
    fail_function = null,
    expect_minions: _expected = false,
    ...step
  }: StepOptions & { arg?: Plain; kwarg?: PlainDict | null; fail_function?: string | null } = {},
): Promise<StateReturn> => {
  if (__opts__.test)
    return would(name, `Function ${name} would be executed on target ${plainStr(tgt)}`);
  const warnings: string[] = [];
  if (typeof arg === 'string') warnings.push("Please specify 'arg' as a list of arguments.");
  const given = typeof arg === 'string' ? arg.split(/\s+/).filter(word => word !== '') : arg;
  let returns: StepReturns;
  try {
    returns = await runStep({
      fun: name,
      arg: Array.isArray(given) ? given : given === null ? [] : [given],
      kwarg: kwarg ?? {},
      tgt,
      step,
      warnings,
    });
  } catch (error) {
    return failed(name, messageOf(error));
  }
  const ret: StateReturn = { ...newReturn(name), ...(warnings.length > 0 ? { warnings } : {}) };
  if (Object.keys(returns).length === 0) return failed(ret, 'No minions responded');
  const mayFail = namesOf(step.fail_minions, warnings);
  const fails: string[] = [];
  const changes: PlainDict = {};
  for (const [host, answer] of Object.entries(returns)) {
    if (!(await isGood(answer, fail_function)) && !mayFail.includes(host)) fails.push(host);
    setOwn(changes, host, answer.failed ?? answer.ret);
  }
  if (warnings.length > 0) ret.warnings = warnings;
  ret.changes = { ret: changes };
  const comment =
    fails.length > 0
      ? `Running function ${name} failed on minions: ${fails.join(', ')}`
      : 'Function ran successfully.';
  return {
    ...ret,
    result: fails.length === 0,
    comment: `${comment} Function ${name} ran on ${Object.keys(changes).join(', ')}.`,
  };
};

const isGood = async (answer: StepReturn, check: string | null): Promise<boolean> => {
  if (answer.failed !== undefined || answer.retcode !== 0 || answer.ret === false) return false;
  if (check === null) return true;
  const fun = untyped(__salt__)[check];
  if (!fun) throw new Error(`fail_function: there is no function ${check}.`);
  return Boolean(await fun(answer.ret));
};

/**
 * Waits for events that hosts of this orchestration send with `event.send`. Those that came since
 * the orchestration began count, too, unless an earlier wait has seen them.
 *
 * @param name the tag of the events; `*` and `?` match
 * @param id_list the values to wait for
 * @param event_id the key of the event's data that has such a value. `id` is the host's id where the data has no such key
 * @param timeout seconds
 * @param node has no effect: the events are those of the hosts
 *
 * @example
 * all are ready:
 *   salt.wait_for_event:
 *     - name: myco/web/ready
 *     - id_list: [web1, web2]
 *     - timeout: 600
 */
export const wait_for_event = async (
  name: string,
  id_list: Plain,
  {
    event_id = 'id',
    timeout = 300,
    node: _node = 'master',
  }: { event_id?: string; timeout?: number; node?: string } = {},
): Promise<StateReturn> => {
  if (__opts__.test) return would(name, `Orchestration would wait for event '${name}'`);
  const ids = Array.isArray(id_list) ? id_list : [id_list];
  const wait: EventWait = { tag: name, ids, event_id, timeout: Number(timeout) };
  const { seen, took, isLate } = await callControl<EventsSeen>('orchestrate.wait', wait);
  const ret: StateReturn = {
    ...newReturn(name),
    changes: seen.length > 0 ? { minions_seen: [...seen] } : {},
  };
  return isLate
    ? failed(ret, 'Timeout value reached.')
    : { ...ret, comment: `All events seen in ${took} seconds.` };
};

/**
 * Runs another orchestration as a step: `state.orchestrate`. Other runners of Salt need a master.
 *
 * @param name the runner
 *
 * @example
 * the database first:
 *   salt.runner:
 *     - name: state.orchestrate
 *     - mods: orch.database
 */
export const runner = async (
  name: string,
  { ...kwarg }: { [argument: string]: Plain | undefined } = {},
): Promise<StateReturn> => {
  refuseRunner(name);
  const { success, value } = await runNested(name, kwarg);
  return {
    ...newReturn(name),
    changes: hasRunChanges(value) ? { return: value } : {},
    result: success && __opts__.test && hasRunChanges(value) ? null : success,
    comment: success
      ? `Runner function '${name}' executed.`
      : [`Runner function '${name}' failed.`, ...reasonsOf(value)].join('\n'),
  };
};

/**
 * Runs orchestrations side by side.
 *
 * @param name a name for the step
 * @param runners by key: `name` (`state.orchestrate`) and `kwarg`, its arguments
 *
 * @example
 * both regions:
 *   salt.parallel_runners:
 *     - runners:
 *         east:
 *           - name: state.orchestrate
 *           - kwarg: {mods: orch.east}
 *         west:
 *           - name: state.orchestrate
 *           - kwarg: {mods: orch.west}
 */
export const parallel_runners = async (name: string, runners: Plain): Promise<StateReturn> => {
  if (!isPlainDict(runners)) return failed(name, "'runners' must be a dictionary.");
  const calls = Object.entries(runners).map(([key, given]) => {
    const items = Array.isArray(given) ? given : [given];
    const named: PlainDict = Object.assign({}, ...items.filter(isPlainDict));
    const fun = plainStr(named.name ?? key);
    refuseRunner(fun);
    return { key, fun, kwarg: isPlainDict(named.kwarg) ? named.kwarg : {} };
  });
  const outputs = await Promise.all(
    calls.map(async ({ key, fun, kwarg }) => ({ key, ...(await runNested(fun, kwarg)) })),
  );
  const fails = outputs.filter(({ success }) => !success);
  const ret = Object.fromEntries(outputs.map(({ key, value }) => [key, value]));
  const isChanged = outputs.some(({ value }) => hasRunChanges(value));
  const comment =
    fails.length === 0
      ? 'All runner functions executed successfully.'
      : [
          `Runner${fails.length > 1 ? 's' : ''} ${fails.map(({ key }) => key).join(', ')} failed.`,
          ...fails.flatMap(({ key, value }) => reasonsOf(value).map(why => `${key}: ${why}`)),
        ].join('\n');
  return {
    ...newReturn(name),
    changes: isChanged ? { ret } : {},
    result: fails.length > 0 ? false : __opts__.test && isChanged ? null : true,
    comment,
  };
};

/**
 * Not supported: wheel functions manage a master's keys, and tsalt-ssh has none.
 *
 * @param name the function
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const wheel = (name: string, {}: { [argument: string]: Plain } = {}): StateReturn =>
  failed(name, `salt.wheel is not supported: '${name}' manages a master, and there is none.`);

const runStep = ({
  fun,
  arg,
  kwarg,
  tgt,
  step,
  warnings,
}: Pick<OrchestrationStep, 'fun' | 'arg' | 'kwarg'> & {
  readonly tgt: Target;
  readonly step: StepOptions;
  readonly warnings: string[];
}): Promise<StepReturns> => {
  const { tgt_type = 'glob', batch, subset, failhard, timeout } = step;
  for (const key of ['ret', 'ret_config', 'ret_kwargs'] as const)
    if (step[key] !== undefined && step[key] !== '' && step[key] !== null)
      warnings.push(`'${key}' has no effect: the results are part of the orchestration's.`);
  const asked: OrchestrationStep = {
    tag: currentTag(),
    id: plainStr(currentLow()?.__id__ ?? ''),
    tgt,
    tgt_type,
    fun,
    arg,
    kwarg,
    ...(isGiven(batch) ? { batch: String(batch) } : {}),
    ...(isGiven(subset) ? { subset: Number(subset) } : {}),
    ...(isGiven(timeout) ? { timeout: Number(timeout) } : {}),
    ...(failhard === true || __opts__.failhard === true ? { failhard: true } : {}),
  };
  return callControl<StepReturns>('orchestrate.run', asked);
};

const isGiven = <T>(value: T | null | undefined): value is T =>
  value !== undefined && value !== null;

const namesOf = (given: Plain | undefined, warnings: string[]): readonly string[] => {
  if (given === undefined || given === null) return [];
  if (typeof given === 'string') return given.split(',').map(name => name.trim());
  if (Array.isArray(given)) return given.map(plainStr);
  warnings.push("'fail_minions' needs to be a list or a comma separated string. Ignored.");
  return [];
};

/** Whether all states of a run are well. (salt.utils.state.check_result) */
const areWell = (ret: Plain): boolean =>
  isPlainDict(ret) &&
  Object.keys(ret).length > 0 &&
  Object.values(ret).every(
    result =>
      !isPlainDict(result) ||
      (Object.hasOwn(result, 'result') ? result.result !== false : areWell(result)),
  );
