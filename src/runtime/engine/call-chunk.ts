import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import { chain, isPromise, type MaybePromise } from '../virtual.ts';
import { aggregate, aggregates, initialize } from './aggregate.ts';
import { callState } from './call-state.ts';
import { stopwatch } from './clock.ts';
import { hasChanges, truthy } from './low-tools.ts';
import { engineResult, failsHard, report } from './report.ts';
import {
  type CheckedRequisites,
  checkRequisites,
  findNeeded,
  type Required,
  showLost,
} from './requisites.ts';
import { type AskedRestart, isHalted, type Pass, type RunState } from './run-state.ts';
import { stackOf } from './stack-of.ts';

/** After more rounds than this, a chunk's requisites can never be met. */
const maxRounds = 20;

/**
 * Runs the requirements of a chunk, then the chunk. The result goes to `pass.running` or, for a
 * prereq dry run, to `run.pre`.
 */
export const callChunk = (run: RunState, pass: Pass, given: LowChunk): MaybePromise<void> => {
  const step = `${given.__prereq__ ? 'rehearse' : 'run'} ${lowTag(given)}`;
  const deep = (pass.chain.get(step) ?? 0) + 1;
  if (deep > maxRounds) {
    pass.done.add(lowTag(given));
    report(run, pass, given, recursive(run, given));
    return;
  }
  pass.chain.set(step, deep);
  const leave = (): void => {
    if (deep > 1) pass.chain.set(step, deep - 1);
    else pass.chain.delete(step);
  };
  let isWaiting = false;
  try {
    const called = callOnce(run, pass, given);
    isWaiting = isPromise(called);
    return isPromise(called) ? called.finally(leave) : called;
  } finally {
    if (!isWaiting) leave();
  }
};

/** Records the result of a chunk, from the run or from a prereq dry run. */
const settleAs = (run: RunState, pass: Pass, low: LowChunk, result: StateResult): void => {
  if (!truthy(low.__prereq__)) {
    report(run, pass, low, result);
    return;
  }
  low.__prereq__ = false;
  run.pre.set(lowTag(low), result);
};

const callOnce = (run: RunState, pass: Pass, given: LowChunk, round = 1): MaybePromise<void> => {
  if (isHalted(run) || pass.done.has(lowTag(given))) return undefined;
  return aggregates(run, given) || !run.initialized.has(given.state)
    ? prepareAndCall(run, pass, given, round)
    : callReady(run, pass, given, round);
};

const prepareAndCall = async (
  run: RunState,
  pass: Pass,
  given: LowChunk,
  round: number,
): Promise<void> => {
  const low = aggregates(run, given) ? await aggregate(run, pass, given) : given;
  const failed = run.initialized.has(low.state) ? undefined : await tryInitialize(run, pass, low);
  if (failed) report(run, pass, low, failed);
  else await callReady(run, pass, low, round);
};

const callReady = (run: RunState, pass: Pass, low: LowChunk, round: number): MaybePromise<void> => {
  if (!truthy(low.prerequired)) pass.active.add(lowTag(low));
  const checked = checkRequisites(run, pass, low, !truthy(low.__prereq__));
  return isPromise(checked)
    ? checked.then(known => follow(run, pass, low, round, known))
    : follow(run, pass, low, round, checked);
};

/** Does what the requisites allow. */
const follow = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  round: number,
  { status, required }: CheckedRequisites,
): MaybePromise<void> => {
  switch (status) {
    case 'unmet':
      return callNeeded(run, pass, low, round);
    case 'fail':
      return refuse(run, pass, low, required);
    case 'pre': {
      const tag = lowTag(low);
      skip(run, pass, low, 'No changes detected');
      run.pre.set(tag, pass.running[tag] as StateResult);
      return undefined;
    }
    case 'onfail':
      return skip(run, pass, low, 'State was not run because onfail req did not change', {
        __state_ran__: false,
      });
    case 'onchanges':
      return skip(run, pass, low, 'State was not run because none of the onchanges reqs changed', {
        __state_ran__: false,
      });
    default:
      return execute(run, pass, low, required, status === 'change' || owes(run, low, required));
  }
};

/** Whether a watched state changed in an earlier run, or in this one before an interruption. */
const owes = (run: RunState, low: LowChunk, { watch = [], watch_any = [] }: Required): boolean =>
  !truthy(low.__prereq__) &&
  [...watch, ...watch_any].some(chunk => run.host.pending.has(lowTag(low), lowTag(chunk)));

const tryInitialize = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
): Promise<StateResult | undefined> => {
  try {
    await initialize(run, pass, low);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return engineResult(run, low, {
      result: false,
      comment: `An exception occurred in mod_init of this state's module: ${why}`,
      ...stackOf(error),
    });
  }
};

const skip = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  comment: string,
  extra: PlainDict = {},
): void => report(run, pass, low, engineResult(run, low, { result: true, comment, ...extra }));

const callNeeded = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  round: number,
): Promise<void> => {
  const tag = lowTag(low);
  // Unwinds the stack: thousands of states may require one another in a row.
  await undefined;
  const { chunks, lost } = findNeeded(pass, low);
  if (lost.length > 0) {
    const result = engineResult(run, low, { result: false, comment: showLost(lost) });
    settleAs(run, pass, low, result);
    return;
  }
  for (const chunk of chunks) {
    const needed = lowTag(chunk);
    if (Object.hasOwn(pass.running, needed)) continue;
    if (pass.active.has(needed)) {
      if (truthy(chunk.__prerequired__)) await rehearse(run, pass, low, needed);
      else report(run, pass, low, recursive(run, low));
      return;
    }
    await callChunk(run, pass, chunk);
    if (isHalted(run)) return;
    if (failsHard(run, pass, chunk)) {
      pass.failhard = true;
      return;
    }
  }
  if (truthy(low.__prereq__)) {
    const { status } = await checkRequisites(run, pass, low, false);
    const result = await callState(run, pass, low);
    if (!hasChanges(result) && status === 'change') {
      result.changes = { watch: 'watch' };
      result.result = null;
    }
    run.pre.set(tag, result);
  } else if (round >= maxRounds) {
    report(run, pass, low, recursive(run, low));
    run.runNumber -= 1; // Salt gives the next result the same number.
  } else await callOnce(run, pass, low, round + 1);
  const last = chunks.at(-1);
  if (last && failsHard(run, pass, last)) pass.failhard = true;
};

const recursive = (run: RunState, low: LowChunk): StateResult =>
  engineResult(run, low, { result: false, comment: 'Recursive requisite found' });

/** Runs a state in test mode for a prereq, which runs only if that state would change something. */
const rehearse = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  askedBy: string,
): Promise<void> => {
  if (run.pre.has(lowTag(low))) return;
  low.__prereq__ = true;
  run.pre.set(askedBy, await callState(run, pass, low));
};

const refuse = (run: RunState, pass: Pass, low: LowChunk, required: Required): void => {
  const tag = lowTag(low);
  const shown = run.pre.get(tag);
  if (shown) {
    shown.changes = {};
    Object.assign(shown, {
      __run_num__: run.runNumber++,
      __sls__: low.__sls__ ?? null,
      __id__: low.__id__,
      name: low.name,
      ...(shown.start_time === undefined ? stopwatch()() : {}),
    });
    report(run, pass, low, shown);
    return;
  }
  const failed = new Set<string>();
  for (const chunk of Object.values(required).flat()) {
    const requiredTag = lowTag(chunk);
    const result = run.pre.get(requiredTag) ?? pass.running[requiredTag];
    if (result?.result === false) failed.add(`${chunk.__sls__}.${chunk.__id__}`);
  }
  const comment = `One or more requisite failed: ${[...failed].sort().join(', ')}`;
  const result = engineResult(run, low, { result: false, comment });
  run.pre.set(tag, result);
  report(run, pass, low, result);
};

const execute = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
): MaybePromise<void> => {
  const tag = lowTag(low);
  if (truthy(low.__prereq__))
    return chain(callState(run, pass, low), (result: StateResult) => {
      run.pre.set(tag, result);
    });
  if (pass.watchers.has(tag) && !truthy(run.host.opts.test)) run.host.pending.began(tag);
  run.host.onStart(tag, low);
  pass.done.add(tag);
  const ownMask = low.umask !== undefined || low.__umask__ !== undefined;
  if (truthy(low.parallel) && !ownMask) return startParallel(run, pass, low, required, react);
  if (ownMask) return executeAlone(run, pass, low, required, react);
  const called = callAndReact(run, pass, low, required, react);
  return isPromise(called)
    ? called.then(result => record(run, pass, low, result))
    : record(run, pass, low, called);
};

const executeAlone = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
): Promise<void> => {
  await Promise.all(pass.processes.values());
  record(run, pass, low, await callAndReact(run, pass, low, required, react));
};

const record = (run: RunState, pass: Pass, low: LowChunk, result: StateResult): void => {
  const restart = restartOf(result);
  if (restart) run.restart = { ...restart, tag: lowTag(low) };
  else report(run, pass, low, result);
};

/** The restart request of a state that continues only after a restart of the host. */
const restartOf = ({ restart }: StateResult): Omit<AskedRestart, 'tag'> | undefined =>
  isPlainDict(restart) ? (restart as Omit<AskedRestart, 'tag'>) : undefined;

/** Calls the state. If it changes nothing but a watched state changed, calls its `mod_watch`. */
const callAndReact = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
): MaybePromise<StateResult> => {
  if (run.host.decide) return askAndReact(run, pass, low, required, react);
  const called = callState(run, pass, low);
  return isPromise(called)
    ? called.then(result => reaction(run, pass, low, required, react, result))
    : reaction(run, pass, low, required, react, called);
};

const askAndReact = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
): Promise<StateResult> => {
  const declined = await askFirst(run, pass, low, react);
  if (declined) return declined;
  return reaction(run, pass, low, required, react, await callState(run, pass, low));
};

const reaction = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
  result: StateResult,
): MaybePromise<StateResult> => {
  if (restartOf(result)) return result;
  if (!react || hasChanges(result) || truthy(result.skip_watch)) return noted(run, low, result);
  const watch = {
    ...low,
    sfun: low.fun,
    fun: 'mod_watch',
    __reqs__: required as unknown as PlainDict,
  };
  return chain(callState(run, pass, watch), (last: StateResult) => noted(run, low, last));
};

const noted = (run: RunState, low: LowChunk, result: StateResult): StateResult => {
  if (result.result === true) run.host.pending.reacted(lowTag(low));
  return result;
};

/**
 * Asks before a state that would change something, fail or react. A declined state counts as one
 * with unmet conditions: states that require it run.
 *
 * @returns its result if it must not run
 */
const askFirst = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  react: boolean,
): Promise<StateResult | undefined> => {
  const { decide, opts } = run.host;
  if (!decide || truthy(opts.test)) return undefined;
  const number = run.runNumber;
  const predicted = await callState(run, pass, { ...low, __prereq__: true });
  run.runNumber = number;
  const wouldReact = react && !hasChanges(predicted) && !truthy(predicted.skip_watch);
  if (predicted.result === true && !hasChanges(predicted) && !wouldReact) return undefined;
  const shown = wouldReact
    ? { ...predicted, result: null, comment: `It would react to changes. ${predicted.comment}` }
    : predicted;
  if (await decide(lowTag(low), shown, low)) return undefined;
  const comment = 'State was not run because it was declined (--step)';
  return engineResult(run, low, { result: true, comment, skip_watch: true, __state_ran__: false });
};

/**
 * Starts a parallel state. Takes tag and run number at once, so that results keep the order of the
 * chunks.
 */
const startParallel = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  required: Required,
  react: boolean,
): void => {
  const tag = lowTag(low);
  const started = engineResult(run, low, { result: null, comment: 'Started in parallel' });
  const { __run_num__ } = started;
  pass.running[tag] = started;
  const call = async (): Promise<StateResult> =>
    callAndReact({ ...run, runNumber: 0 }, pass, low, required, react);
  const work = call().then(
    result => report(run, pass, low, { ...result, __run_num__ }),
    (error: unknown) => {
      pass.aborted ??= error;
    },
  );
  pass.processes.set(
    tag,
    work.finally(() => pass.processes.delete(tag)),
  );
};
