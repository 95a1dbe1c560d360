import { plainStr } from '../modules/_shared/text/python-text.ts';
import { messageOf } from '../protocol/error.ts';
import type { RunParams, StateFinished, StateStarted } from '../protocol/job.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { StateResult } from '../protocol/result.ts';
import { truthy } from './engine/low-tools.ts';
import { takeStack } from './engine/stack-of.ts';

/** Makes the event of a state that begins. */
export const startedOf = (tag: string, low: LowChunk): StateStarted => ({
  tag,
  id: low.__id__,
  fun: `${low.state}.${low.fun}`,
  name: low.name,
});

/** Makes the event of a finished state, without the parts that `no_log` hides. */
export const finishedOf = (
  tag: string,
  result: StateResult,
  low: LowChunk,
  run: RunParams,
): StateFinished => {
  const stack = takeStack(result);
  const shown = truthy(low.no_log) ? withoutSecrets(result) : result;
  const event = eventTag(low, run);
  if (event === undefined && stack === undefined) return { tag, result: shown };
  return {
    tag,
    result: shown,
    ...(event === undefined ? {} : { event }),
    ...(stack === undefined ? {} : { stack }),
  };
};

/**
 * Makes the event without changes, if the whole one cannot be sent; adds the reason to the comment.
 */
export const withoutChanges = ({ tag, result }: StateFinished, why: unknown): StateFinished => {
  const note = `The changes are left out: ${messageOf(why)}`;
  // A module may return any data as its comment.
  const comment = plainStr(result.comment).slice(0, longestComment);
  return { tag, result: { ...result, changes: { [tag]: note }, comment: `${comment}\n${note}` } };
};

const longestComment = 1024 * 1024;

const hidden = 'The output has been hidden because no_log is set on this state.';

const withoutSecrets = (result: StateResult): StateResult => {
  const changed = Object.keys(result.changes).length > 0;
  const { name, result: outcome, __id__, __sls__, __run_num__, start_time, duration } = result;
  return {
    name,
    result: outcome,
    comment: hidden,
    changes: changed ? { no_log: hidden } : {},
    no_log: true,
    __id__,
    __run_num__,
    start_time,
    duration,
    ...(__sls__ === undefined ? {} : { __sls__ }),
  };
};

/** `fire_event: true` names the event after the state; a string is the name itself. */
const eventTag = ({ fire_event, name }: LowChunk, { job, opts }: RunParams): string | undefined => {
  if (!truthy(fire_event)) return undefined;
  const own = typeof fire_event === 'string' ? fire_event : String(name);
  return ['salt', 'state_result', ...(job === undefined ? [] : [job]), opts.id, own].join('/');
};
