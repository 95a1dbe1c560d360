import { RefusedPath } from '../../modules/_shared/safe-fs/refused.ts';
import type { QuickWork } from '../../modules/quick-check.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { Resolved } from '../registry-types.ts';
import { isPromise, type MaybePromise } from '../virtual.ts';
import { bindLow } from './bind-low.ts';
import { checkStateReturn } from './check-return.ts';
import { stopwatch, type Timing } from './clock.ts';
import { checkCommands, checkConditions, hasConditions } from './conditions.ts';
import { asList, hasChanges, truthy } from './low-tools.ts';
import { retryState } from './retry-state.ts';
import type { HostStateView, Pass, RunState } from './run-state.ts';
import { fillSlots, hasSlots } from './slots.ts';
import { stackOf } from './stack-of.ts';
import { type Verified, verifyLow } from './verify-low.ts';

/**
 * Runs one state function and returns its checked result: arguments, conditions, retries,
 * `check_cmd`, umask. A state that throws, or whose arguments do not fit its function, is a failed
 * state.
 */
export const callState = (run: RunState, pass: Pass, low: LowChunk): MaybePromise<StateResult> => {
  const attempt = callOnce(run, pass, low);
  return !isPromise(attempt) && (attempt.last || !isRetried(low, attempt.result))
    ? attempt.result
    : callUntilDone(run, pass, low, attempt);
};

const callUntilDone = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  first: MaybePromise<Attempt>,
): Promise<StateResult> => {
  const { result, last } = await first;
  if (last || !isRetried(low, result)) return result;
  return retryState(run, low, result, async () => (await callOnce(run, pass, low)).result);
};

/** One attempt; `last` if no other follows. */
type Attempt = { readonly result: StateResult; readonly last?: true };

/** A call of a state's function. */
type Call = {
  readonly run: RunState;
  readonly pass: Pass;
  readonly low: LowChunk;
  readonly full: string;
  readonly resolved: Resolved;
  readonly kwargs: PlainDict;
  readonly rehearsal: boolean;
  /** What the result has from then on when the function is called. */
  note: PlainDict;
};

const callOnce = (run: RunState, pass: Pass, low: LowChunk): MaybePromise<Attempt> => {
  const watch = stopwatch();
  const rehearsal = truthy(low.__prereq__);
  if (rehearsal) low.__prereq__ = false;
  const verified = verifyLow(run.host.registry, low);
  return isPromise(verified)
    ? verified.then(known => callVerified(run, pass, low, rehearsal, known, watch))
    : callVerified(run, pass, low, rehearsal, verified, watch);
};

const callVerified = (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  rehearsal: boolean,
  verified: Verified,
  watch: () => Timing,
): MaybePromise<Attempt> => {
  if (verified.errors) {
    const comment = verified.errors.map(error => `${error}\n`).join('');
    return { result: notCalled(run, low, comment, stackOf(verified.cause)), last: true };
  }
  const { full, resolved } = verified;
  const { kwargs, error } = bindLow(full, resolved.signature, low);
  if (error !== undefined) return { result: notCalled(run, low, error), last: true };
  const call: Call = { run, pass, low, full, resolved, kwargs, rehearsal, note: {} };
  const quick = checkQuickly(call);
  if (typeof quick === 'string') {
    const unchanged = { name: low.name, changes: {}, result: true, comment: quick };
    return complete(call, unchanged, watch);
  }
  const raw = run.host.withOwnLog(low, () => (quick ? workQuickly(call, quick) : perform(call)));
  return isPromise(raw)
    ? raw.then(value => conclude(call, value, watch))
    : conclude(call, raw, watch);
};

/**
 * Returns the comment of a state that has nothing to do, or what does its work, if its function has a
 * quick check and if nothing but the function itself is to be called. Not asked where the function
 * had something to do last: a run that changes files would look at each of them once more.
 */
const checkQuickly = (call: Call): string | QuickWork | undefined => {
  const { run, low, full, resolved, kwargs, rehearsal } = call;
  const { quickCheck } = resolved;
  if (!quickCheck || run.busy.has(full)) return undefined;
  if (rehearsal || truthy(low.parallel) || !isCalledAtOnce(call)) return undefined;
  const { opts, context } = run.host;
  const env = envOf(call, kwargs);
  try {
    const found = quickCheck(kwargs, { env, test: truthy(opts.test), context });
    // The mask is set around the function alone.
    if (typeof found === 'string' || (found && typeof low.__umask__ !== 'number')) return found;
  } catch {
    // The function meets the same error, and its state reports it.
  }
  run.busy.add(full);
  return undefined;
};

/** Does the work that a quick check left, and calls the function where that fails. */
const workQuickly = (call: Call, work: QuickWork): MaybePromise<unknown> => {
  const { run, full, kwargs } = call;
  const leave = (): MaybePromise<unknown> => {
    run.busy.add(full);
    return perform(call);
  };
  try {
    const ret = run.host.inState(viewOf(call, kwargs), work);
    return isPromise(ret) ? ret.catch(leave) : ret;
  } catch {
    return leave();
  }
};

/** Checks what the function returned, and adds to it what every result has. */
const conclude = (call: Call, raw: unknown, watch: () => Timing): MaybePromise<Attempt> => {
  if (call.rehearsal || !isPlainDict(raw) || isPlainDict(raw.restart))
    return { result: finish(checkStateReturn(raw)), last: true };
  if (raw.result === true && isPlainDict(raw.changes) && !hasChanges({ changes: raw.changes }))
    call.run.busy.delete(call.full);
  return complete(call, raw, watch, checkStateReturn);
};

const complete = (
  { run, low }: Call,
  raw: PlainDict,
  watch: () => Timing,
  check = (result: PlainDict): PlainDict => result,
): MaybePromise<Attempt> => {
  raw.__sls__ = low.__sls__ ?? null;
  raw.__run_num__ = run.runNumber++;
  const timed = (): Attempt => ({
    result: finish(check(Object.assign(raw, watch(), { __id__: low.__id__ }))),
  });
  const refreshed = refreshAfter(run, low, raw);
  return refreshed?.then(timed) ?? timed();
};

/** Returns the result of a chunk that does not fit its function. */
const notCalled = (
  run: RunState,
  low: LowChunk,
  comment: string,
  extra: PlainDict = {},
): StateResult =>
  finish({
    result: false,
    name: low.name,
    changes: {},
    comment,
    __run_num__: run.runNumber++,
    ...extra,
  });

/**
 * As in Salt: a state with `parallel: false` is not retried, nor is a parallel one that did not
 * start.
 */
const isRetried = (low: LowChunk, result: StateResult): boolean =>
  Object.hasOwn(low, 'retry') && (!Object.hasOwn(low, 'parallel') || truthy(result.__parallel__));

const finish = (result: PlainDict): StateResult => result as StateResult;

/** Returns the function's own return, unchecked. */
const perform = (call: Call): MaybePromise<unknown> => {
  const { run, low } = call;
  const { context } = run.host;
  context.runas = low.runas ?? null;
  let isWaiting = false;
  try {
    const ret = isCalledAtOnce(call) ? invoke(call, call.kwargs) : performChecked(call);
    isWaiting = isPromise(ret);
    return isWaiting ? performed(call, ret) : ret;
  } catch (error) {
    return thrown(call, error);
  } finally {
    if (!isWaiting) delete context.runas;
  }
};

const performed = async (call: Call, ret: unknown): Promise<unknown> => {
  try {
    return await ret;
  } catch (error) {
    return thrown(call, error);
  } finally {
    delete call.run.host.context.runas;
  }
};

/** Whether nothing is checked before and after the call, as for most chunks. */
const isCalledAtOnce = ({ run, low, kwargs }: Call): boolean =>
  !hasConditions(low) &&
  !run.host.opts.global_state_conditions &&
  !Object.hasOwn(low, 'check_cmd') &&
  !hasSlots(kwargs);

const performChecked = async (call: Call): Promise<unknown> => {
  const { run, low, full, resolved, kwargs } = call;
  const { host } = run;
  let ret: unknown;
  // After the restart that it requested, a state continues whatever its conditions are by now.
  const goesOn = host.resume?.restart.tag === lowTag(low);
  if (!goesOn && hasConditions(low) && !(await host.registry.hook(low.state, 'mod_run_check'))) {
    const skipped = await checkConditions(host, low);
    if (truthy(skipped.result)) ret = { changes: {}, ...skipped };
  }
  if (host.opts.global_state_conditions) ret ??= await globalConditions(run, low, full);
  if (ret === undefined) {
    const filled = hasSlots(kwargs) ? await fillSlots(host, kwargs) : kwargs;
    ret = await invoke(call, filled);
  }
  if (
    Object.hasOwn(low, 'check_cmd') &&
    isPlainDict(ret) &&
    !isPlainDict(ret.restart) &&
    !(await checksItself(run, low, resolved))
  )
    Object.assign(ret, await checkCommands(host, low));
  return ret;
};

const envOf = ({ low }: Call, { env }: PlainDict): string =>
  String(low.saltenv ?? (typeof env === 'string' ? env : low.__env__) ?? 'base');

/** What the state's function sees of the run. */
const viewOf = (call: Call, kwargs: PlainDict): HostStateView => {
  const { run, pass, low, rehearsal } = call;
  return {
    env: envOf(call, kwargs),
    test: rehearsal || truthy(run.host.opts.test),
    low,
    lowstate: pass.chunks,
    running: pass.running,
  };
};

/** Calls the function. */
const invoke = (call: Call, kwargs: PlainDict): MaybePromise<unknown> => {
  const { run, low, resolved, rehearsal } = call;
  const { host } = run;
  const view = viewOf(call, kwargs);
  if (truthy(low.parallel) && !rehearsal) call.note = { __parallel__: true };
  const work = (): unknown => host.inState(view, () => resolved.call([], kwargs));
  // The mask is the process's: states with one of their own never run beside others.
  const ret = typeof low.__umask__ === 'number' ? withMask(low.__umask__, work) : work();
  return isPromise(ret) ? ret.then(value => withNote(value, call.note)) : withNote(ret, call.note);
};

/** Returns the result of a state that threw. */
const thrown = ({ low, note }: Call, error: unknown): PlainDict => ({
  result: false,
  name: low.name ?? low.__id__,
  changes: {},
  comment:
    error instanceof RefusedPath
      ? error.message
      : `An exception occurred in this state: ${describe(error)}`,
  ...stackOf(error),
  ...note,
});

/** Copies the result before the engine adds to it, since the module may keep the object. */
const withNote = (value: unknown, note: PlainDict): unknown =>
  isPlainDict(value) ? { ...value, ...note } : value;

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

const checksItself = async (run: RunState, low: LowChunk, { signature }: Resolved) =>
  [...signature.positional, ...(signature.keywords ?? [])].some(
    ({ name }) => name === 'check_cmd',
  ) && (await run.host.registry.hook(low.state, 'mod_run_check_cmd')) !== undefined;

const withMask = async (mask: number, work: () => unknown): Promise<unknown> => {
  const before = process.umask(mask);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
};

/** Config `global_state_conditions`: if none of the matching conditions holds, no state runs. */
const globalConditions = async (
  { host }: RunState,
  low: LowChunk,
  full: string,
): Promise<PlainDict | undefined> => {
  const { global_state_conditions: table } = host.opts;
  if (!isPlainDict(table)) return undefined;
  const conditions = Object.entries(table)
    .filter(([key]) => ['*', full, low.state].includes(key))
    .flatMap(([, value]) =>
      asList(value).filter((item): item is string => typeof item === 'string'),
    );
  if (conditions.length === 0) return undefined;
  for (const condition of conditions)
    if (truthy(await host.execute('match.compound', [condition], {}))) return undefined;
  return {
    name: low.name,
    comment: 'Failed to meet global state conditions. State not called.',
    changes: {},
    result: null,
  };
};

/** Reloads what the state says or what it is known to change; undefined where that is nothing. */
const refreshAfter = (
  { host }: RunState,
  low: LowChunk,
  raw: PlainDict,
): Promise<void> | undefined => {
  const grains = truthy(low.reload_grains);
  const pillar = truthy(low.reload_pillar);
  const mayChange = grains || pillar || truthy(low.reload_modules) || bringsCommands(low);
  const modules =
    truthy(low.force_reload_modules) ||
    (mayChange && isPlainDict(raw.changes) && hasChanges({ changes: raw.changes }));
  if (!grains && !pillar && !modules) return undefined;
  return (async () => {
    if (grains) await host.refresh('grains');
    if (pillar) await host.refresh('pillar');
    if (modules) await host.refresh('modules');
  })();
};

/** A new package brings commands, which modules may depend on. */
const bringsCommands = ({ state }: LowChunk): boolean =>
  ['pkg', 'ports', 'pip', 'npm'].includes(state);
