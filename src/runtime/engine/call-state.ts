import { RefusedPath } from '../../modules/_shared/safe-fs/refused.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { Resolved } from '../registry-types.ts';
import { isPromise } from '../virtual.ts';
import { bindLow } from './bind-low.ts';
import { checkStateReturn } from './check-return.ts';
import { stopwatch } from './clock.ts';
import { checkCommands, checkConditions, hasConditions } from './conditions.ts';
import { asList, hasChanges, truthy } from './low-tools.ts';
import { retryState } from './retry-state.ts';
import type { Pass, RunState } from './run-state.ts';
import { fillSlots, hasSlots } from './slots.ts';
import { stackOf } from './stack-of.ts';
import { verifyLow } from './verify-low.ts';

/**
 * Runs one state function and returns its checked result: arguments, conditions, retries,
 * `check_cmd`, umask. A state that throws, or whose arguments do not fit its function, is a failed
 * state.
 */
export const callState = async (run: RunState, pass: Pass, low: LowChunk): Promise<StateResult> => {
  const { result, last } = await callOnce(run, pass, low);
  if (last || !isRetried(low, result)) return result;
  return retryState(run, low, result, async () => (await callOnce(run, pass, low)).result);
};

/** Runs one attempt; `last` if no other follows. */
const callOnce = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
): Promise<{ readonly result: StateResult; readonly last?: true }> => {
  const watch = stopwatch();
  const rehearsal = truthy(low.__prereq__);
  if (rehearsal) low.__prereq__ = false;
  const checked = verifyLow(run.host.registry, low);
  const verified = isPromise(checked) ? await checked : checked;
  if (verified.errors) {
    const comment = verified.errors.map(error => `${error}\n`).join('');
    return { result: notCalled(run, low, comment, stackOf(verified.cause)), last: true };
  }
  const { full, resolved } = verified;
  const { kwargs, error } = bindLow(full, resolved.signature, low);
  if (error !== undefined) return { result: notCalled(run, low, error), last: true };
  const raw = await run.host.withOwnLog(low, () =>
    perform(run, pass, low, full, resolved, kwargs, rehearsal),
  );
  if (rehearsal || !isPlainDict(raw) || isPlainDict(raw.restart))
    return { result: finish(checkStateReturn(raw)), last: true };
  raw.__sls__ = low.__sls__ ?? null;
  raw.__run_num__ = run.runNumber++;
  if (mayRefresh(low, raw)) await refreshAfter(run, low, raw);
  Object.assign(raw, watch(), { __id__: low.__id__ });
  return { result: finish(checkStateReturn(raw)) };
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
const perform = async (
  run: RunState,
  pass: Pass,
  low: LowChunk,
  full: string,
  resolved: Resolved,
  kwargs: PlainDict,
  rehearsal: boolean,
): Promise<unknown> => {
  const { host } = run;
  host.context.runas = low.runas ?? null;
  let called: PlainDict = {};
  try {
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
      const view = {
        env: String(
          low.saltenv ?? (typeof kwargs.env === 'string' ? kwargs.env : low.__env__) ?? 'base',
        ),
        test: rehearsal || truthy(host.opts.test),
        low,
        lowstate: pass.chunks,
        running: pass.running,
      };
      if (truthy(low.parallel) && !rehearsal) called = { __parallel__: true };
      ret = withNote(
        await withUmask(low, () => host.inState(view, () => resolved.call([], filled))),
        called,
      );
    }
    if (
      Object.hasOwn(low, 'check_cmd') &&
      isPlainDict(ret) &&
      !isPlainDict(ret.restart) &&
      !(await checksItself(run, low, resolved))
    )
      Object.assign(ret, await checkCommands(host, low));
    return ret;
  } catch (error) {
    return {
      result: false,
      name: low.name ?? low.__id__,
      changes: {},
      comment:
        error instanceof RefusedPath
          ? error.message
          : `An exception occurred in this state: ${describe(error)}`,
      ...stackOf(error),
      ...called,
    };
  } finally {
    delete host.context.runas;
  }
};

/** Copies the result before the engine adds to it, since the module may keep the object. */
const withNote = (value: unknown, note: PlainDict): unknown =>
  isPlainDict(value) ? { ...value, ...note } : value;

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

const checksItself = async (run: RunState, low: LowChunk, { signature }: Resolved) =>
  [...signature.positional, ...(signature.keywords ?? [])].some(
    ({ name }) => name === 'check_cmd',
  ) && (await run.host.registry.hook(low.state, 'mod_run_check_cmd')) !== undefined;

/** The mask is the process's: states with one of their own never run beside others. */
const withUmask = <T>(low: LowChunk, work: () => Promise<T>): Promise<T> =>
  typeof low.__umask__ === 'number' ? withMask(low.__umask__, work) : work();

const withMask = async <T>(mask: number, work: () => Promise<T>): Promise<T> => {
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

/** Without changes and unless the state says so, there is nothing to reload. */
const mayRefresh = (low: LowChunk, { changes }: PlainDict): boolean =>
  truthy(changes) ||
  truthy(low.reload_grains) ||
  truthy(low.reload_pillar) ||
  truthy(low.force_reload_modules);

/** Reloads what the state says or what it is known to change (a new package brings commands). */
const refreshAfter = async ({ host }: RunState, low: LowChunk, raw: PlainDict): Promise<void> => {
  if (truthy(low.reload_grains)) await host.refresh('grains');
  if (truthy(low.reload_pillar)) await host.refresh('pillar');
  const changed = isPlainDict(raw.changes) && hasChanges({ changes: raw.changes });
  const asked =
    truthy(low.reload_modules) || truthy(low.reload_grains) || truthy(low.reload_pillar);
  if (
    (changed && (asked || ['pkg', 'ports', 'pip', 'npm'].includes(low.state))) ||
    truthy(low.force_reload_modules)
  )
    await host.refresh('modules');
};
