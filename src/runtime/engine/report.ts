import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import { stopwatch } from './clock.ts';
import { hasChanges, truthy } from './low-tools.ts';
import type { Pass, RunState } from './run-state.ts';

/** Makes a result for a chunk whose function does not run. */
export const engineResult = (run: RunState, low: LowChunk, parts: PlainDict): StateResult =>
  ({
    changes: {},
    ...stopwatch()(),
    ...parts,
    __run_num__: run.runNumber++,
    __sls__: low.__sls__ ?? null,
    __id__: low.__id__,
    name: low.name,
  }) as unknown as StateResult;

/** Records the result of a chunk. */
export const report = (run: RunState, pass: Pass, low: LowChunk, result: StateResult): void => {
  const tag = lowTag(low);
  // A copy: the results of rehearsals are reported too, and stay as they are.
  const whole = { ...result };
  const { sub_state_run: parts } = whole;
  if (parts !== undefined) delete whole.sub_state_run;
  pass.running[tag] = whole;
  run.host.onFinish(tag, whole, low);
  noteChange(run, pass, tag, whole);
  if (Array.isArray(parts)) for (const part of parts) reportPart(run, pass, low, part);
};

/** Records that watchers of this state that have not run yet must react to its changes. */
const noteChange = (run: RunState, pass: Pass, tag: string, result: StateResult): void => {
  if (truthy(run.host.opts.test)) return;
  const { pending } = run.host;
  if (!hasChanges(result)) {
    pending.unchanged(tag);
    return;
  }
  const owing = (pass.watchers.get(tag) ?? []).filter(
    watcher => !Object.hasOwn(pass.running, watcher),
  );
  if (owing.length > 0) pending.changed(tag, owing);
  else pending.unchanged(tag);
};

/** Reports the steps of another tool, which a state ran, as states of their own. */
const reportPart = (run: RunState, pass: Pass, low: LowChunk, part: unknown): void => {
  if (!isPlainDict(part) || !isPlainDict(part.low)) return;
  const inner = part.low as LowChunk;
  const tag = lowTag(inner);
  const timing = stopwatch()();
  const result = {
    name: low.name,
    changes: part.changes,
    result: part.result,
    duration: milliseconds(part.duration) ?? timing.duration,
    start_time: part.start_time ?? timing.start_time,
    comment: part.comment ?? '',
    __state_ran__: true,
    __run_num__: ++run.runNumber,
    __sls__: low.__sls__ ?? null,
    __id__: low.__id__,
  } as unknown as StateResult;
  pass.running[tag] = result;
  const no_log = truthy(low.no_log) || truthy(inner.no_log);
  run.host.onFinish(tag, result, { ...inner, no_log });
};

/** Converts seconds of sub-state runs (spec/state-modules: "Sub State Runs") to milliseconds. */
const milliseconds = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' ? Math.round(seconds * 1e6) / 1e3 : undefined;

/** Whether the run must end after this chunk. A parallel state never ends the run. */
export const failsHard = (run: RunState, pass: Pass, low: LowChunk): boolean => {
  if (truthy(run.host.opts.test)) return false;
  const wanted = Object.hasOwn(low, 'failhard') ? low.failhard : run.host.opts.failhard;
  const tag = lowTag(low);
  if (!truthy(wanted) || !Object.hasOwn(pass.running, tag)) return false;
  const result = pass.running[tag];
  return result?.result === false && !truthy(result.__parallel__);
};
