import { type LowChunk, lowTag } from '../../protocol/low.ts';
import { monotonic } from '../../protocol/monotonic.ts';
import type { StateResult } from '../../protocol/result.ts';
import { truthy } from './low-tools.ts';
import { attemptNote, nextInterval, readRetry, retryNote } from './retry.ts';
import type { RunState } from './run-state.ts';

/**
 * Calls a state again until its result satisfies `retry`. As in Salt, a parallel state is called
 * once more than `attempts`, and its comment lists each later attempt.
 */
export const retryState = async (
  run: RunState,
  low: LowChunk,
  first: StateResult,
  again: () => Promise<StateResult>,
): Promise<StateResult> => {
  const retry = readRetry(low.retry);
  if (truthy(run.host.opts.test))
    return { ...first, comment: [first.comment || '', retryNote(retry)].join('  ') };
  const parallel = truthy(first.__parallel__);
  const notes: string[] = parallel ? [first.comment] : [];
  const calls = parallel ? retry.attempts + 1 : retry.attempts;
  let result = first;
  for (let attempt = 1; attempt < calls && result.result !== retry.until; attempt++) {
    const interval = nextInterval(retry);
    const say = `the result is not what retry waits for; again in ${interval} seconds`;
    if (!run.host.stopping()) run.host.log('info', `${lowTag(low)}: ${say}`);
    await pause(run, interval);
    if (run.host.stopping()) break;
    const next = await again();
    const told = parallel ? next : result;
    notes.push(attemptNote(attempt, told.result, told.comment));
    result = {
      ...next,
      duration: (next.duration ?? 0) + (result.duration ?? 0) + interval * 1000,
      start_time: first.start_time,
    };
  }
  if (result === first) return first;
  const lines = parallel ? notes : [...notes, result.comment ?? ''];
  return { ...result, comment: lines.join('\n') };
};

/** Sleeps, but wakes up when the run is stopped. */
const pause = async ({ host }: RunState, seconds: number): Promise<void> => {
  const end = monotonic() + seconds * 1000;
  for (let left = seconds * 1000; left > 0 && !host.stopping(); left = end - monotonic())
    await new Promise(resolve => setTimeout(resolve, Math.min(left, 500)));
};
