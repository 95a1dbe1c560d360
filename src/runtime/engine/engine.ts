import { globTest } from '../../data/python/glob.ts';
import { type LowChunk, lowTag } from '../../protocol/low.ts';
import type { StateResult, StateResults } from '../../protocol/result.ts';
import { Turns } from '../../protocol/turns.ts';
import { isPromise } from '../virtual.ts';
import { RunAborted } from './abort.ts';
import { callChunk } from './call-chunk.ts';
import { ChunkIndex } from './chunk-index.ts';
import { findListeners } from './listen.ts';
import { asList } from './low-tools.ts';
import { failsHard } from './report.ts';
import {
  type AskedRestart,
  type EngineHost,
  isHalted,
  type Pass,
  type RunState,
} from './run-state.ts';
import { findWatchers, listenTag } from './watchers.ts';

export type ChunkOutcome = {
  /** Results by tag, in run order. */
  readonly results: StateResults;
  /** Why the run ended before its last state. */
  readonly aborted?: string;
  /** The run waits until the host has been restarted. */
  readonly restart?: AskedRestart;
};

/**
 * Runs ordered low chunks, each at most once and after its requirements, then the listeners.
 * Failures of states are in the results; only an invalid job aborts the run.
 *
 * Source of the rules: Salt 3006's `State.call_chunks`, `call_chunk`, `call_listen`.
 */
export const runChunks = async (
  host: EngineHost,
  chunks: readonly LowChunk[],
): Promise<ChunkOutcome> => {
  const results: StateResults = { ...finishedBefore(host) };
  const run: RunState = {
    host,
    pre: new Map(),
    initialized: new Set(),
    busy: new Set(),
    runNumber: nextNumber(results),
  };
  try {
    const enabled = takeDisabled(run, chunks, results);
    const states = await makePass(run, enabled);
    host.pending.plan(enabled, states.watchers);
    await runPass(run, states, results);
    if (!isHalted(run)) await runListeners(run, states, results);
    return { results, ...(run.restart === undefined ? {} : { restart: run.restart }) };
  } catch (error) {
    if (error instanceof RunAborted) return { results, aborted: error.message };
    throw error;
  }
};

const finishedBefore = ({ resume, finished }: EngineHost): StateResults =>
  resume?.results ?? finished ?? {};

const nextNumber = (results: StateResults): number => {
  let next = 0;
  for (const { __run_num__ } of Object.values(results)) next = Math.max(next, __run_num__ + 1);
  return next;
};

/**
 * Returns results of this pass from before a restart of the host, or from before the run was
 * resumed.
 */
const resultsBefore = ({ host }: RunState, chunks: readonly LowChunk[]): StateResults => {
  const before = finishedBefore(host);
  const tags = new Set(chunks.map(lowTag));
  return Object.fromEntries(Object.entries(before).filter(([tag]) => tags.has(tag)));
};

const makePass = async (run: RunState, chunks: readonly LowChunk[]): Promise<Pass> => {
  const index = new ChunkIndex(chunks);
  return {
    chunks,
    index,
    running: resultsBefore(run, chunks),
    done: new Set(),
    processes: new Map(),
    active: new Set(),
    chain: new Map(),
    watchers: await findWatchers(
      run.host.registry,
      chunks,
      index,
      asList(run.host.opts.disabled_requisites),
    ),
    failhard: false,
  };
};

/**
 * Milliseconds after which messages of the control node are read: states that await nothing would
 * keep the runtime from answering for as long as there are any.
 */
const turn = 25;

const runPass = async (run: RunState, pass: Pass, results: StateResults): Promise<void> => {
  const turns = new Turns(turn);
  try {
    for (const low of pass.chunks) {
      if (turns.areOver) await turns.pause();
      if (pass.failhard || pass.aborted || isHalted(run)) break;
      if (Object.hasOwn(pass.running, lowTag(low))) continue;
      const called = callChunk(run, pass, low);
      if (isPromise(called)) await called;
      // Parallel states go on between the others.
      else if (pass.processes.size > 0) await undefined;
      if (failsHard(run, pass, low)) break;
      pass.active.clear();
    }
  } finally {
    while (pass.processes.size > 0) await Promise.all(pass.processes.values());
    Object.assign(results, pass.running);
  }
  if (pass.aborted) throw pass.aborted;
};

/**
 * Removes functions that the grain `state_runs_disabled` forbids (`state.disable` writes its
 * patterns).
 */
const takeDisabled = (
  run: RunState,
  chunks: readonly LowChunk[],
  results: StateResults,
): readonly LowChunk[] => {
  const patterns = asList(run.host.grains().state_runs_disabled).map(String);
  if (patterns.length === 0) return chunks;
  return chunks.filter(low => {
    const fun = `${low.state}.${low.fun}`;
    const pattern = patterns.find(candidate => globTest(candidate)(fun));
    if (pattern === undefined) return true;
    if (Object.hasOwn(results, lowTag(low))) return false;
    const result = {
      name: low.name,
      changes: {},
      result: false,
      comment: `The state function "${fun}" is currently disabled by "${pattern}", to re-enable, run state.enable ${pattern}.`,
      __run_num__: run.runNumber++,
      __sls__: low.__sls__,
      __id__: low.__id__,
    } as unknown as StateResult;
    results[lowTag(low)] = result;
    run.host.onFinish(lowTag(low), result, low);
    return false;
  });
};

const runListeners = async (run: RunState, states: Pass, results: StateResults): Promise<void> => {
  const { reactions, errors } = findListeners(states, run.host.pending.has);
  if (reactions.length > 0) {
    const pass = await makePass(
      run,
      reactions.map(({ low }) => low),
    );
    await runPass(run, pass, results);
    for (const { of, low } of reactions)
      if (pass.running[lowTag(low)]?.result === true) run.host.pending.reacted(listenTag(of));
  }
  for (const { tag, result } of errors) {
    const numbered = { ...result, __run_num__: run.runNumber++ } as StateResult;
    results[tag] = numbered;
    run.host.onFinish(tag, numbered, asLow(tag));
  }
};

const asLow = (tag: string): LowChunk => {
  const [state = '', id = '', name = '', fun = ''] = tag.split('_|-');
  return { state, fun, name, __id__: id, __sls__: '', __env__: '', order: 0 };
};
