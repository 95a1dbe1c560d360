import type { Restart, Resume } from '../../protocol/job.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import type { StateResult, StateResults } from '../../protocol/result.ts';
import type { StackPosition } from '../../protocol/stack.ts';
import type { Registry } from '../registry-types.ts';
import type { ChunkIndex } from './chunk-index.ts';
import type { PendingReactions } from './pending.ts';

/** The interface between the engine and its environment. */
export type EngineHost = {
  readonly registry: Registry;
  /** `__salt__['x.y'](*args, **kwargs)`, by name. Throws for an unknown function. */
  readonly execute: (fun: string, args: readonly unknown[], kwargs: PlainDict) => Promise<unknown>;
  readonly hasFunction: (fun: string) => boolean;
  readonly opts: PlainDict;
  readonly grains: () => PlainDict;
  /** `__context__` of the run. */
  readonly context: { [key: string]: unknown };
  /** Runs `work` as the code of a state: with its saltenv, its chunk, and test mode if set. */
  readonly inState: <T>(view: HostStateView, work: () => T) => T;
  /** Runs `work` for a state, without a log if it has `no_log`. */
  readonly withOwnLog: <T>(low: LowChunk, work: () => T) => T;
  readonly log: (
    level: 'debug' | 'info' | 'warning' | 'error',
    message: string,
    stack?: readonly StackPosition[],
  ) => void;
  readonly onStart: (tag: string, low: LowChunk) => void;
  readonly onFinish: (tag: string, result: StateResult, low: LowChunk) => void;
  /** `reload_grains`, `reload_pillar`, new modules after a package was installed. */
  readonly refresh: (what: 'grains' | 'pillar' | 'modules') => Promise<void>;
  /** Whether no further state may start. */
  readonly stopping: () => boolean;
  readonly pending: PendingReactions;
  /** Asks whether a state that would change something may run (`--step`). */
  readonly decide?: (tag: string, predicted: StateResult, low: LowChunk) => Promise<boolean>;
  /** The run resumes after a restart of the host. */
  readonly resume?: Resume;
  /** Results of states that an earlier run has finished. */
  readonly finished?: StateResults;
};

export type HostStateView = {
  readonly env: string;
  readonly test: boolean;
  readonly low: LowChunk;
  readonly lowstate: readonly LowChunk[];
  readonly running: StateResults;
};

/** One pass over a list of chunks: the states themselves, or the listeners after them. */
export type Pass = {
  readonly chunks: readonly LowChunk[];
  readonly index: ChunkIndex;
  /** Results by tag, in run order. */
  readonly running: StateResults;
  /** Tags of states that are finished: their function ran, or they wait for themselves. */
  readonly done: Set<string>;
  /** Parallel states that are still running. */
  readonly processes: Map<string, Promise<void>>;
  /** Tags of the current chain of requisites. */
  readonly active: Set<string>;
  /**
   * How often each step (a chunk, in the run or in a prereq dry run) currently waits for itself.
   */
  readonly chain: Map<string, number>;
  /** Watchers of each state, by tag; tags of listeners have the prefix `listen:`. */
  readonly watchers: ReadonlyMap<string, readonly string[]>;
  failhard: boolean;
  /** The error with which a parallel state aborts the run. */
  aborted?: unknown;
};

/** State that all passes of a run share. */
export type RunState = {
  readonly host: EngineHost;
  /** Results of prereq dry runs. */
  readonly pre: Map<string, StateResult>;
  readonly initialized: Set<string>;
  /** State functions that had something to do when they were called last. */
  readonly busy: Set<string>;
  runNumber: number;
  /** A state requested a restart of the host: no further state starts. */
  restart?: AskedRestart;
};

/** The `restart` that a state returns to request a restart before it continues. */
export type AskedRestart = Omit<Restart, 'kept'>;

/**
 * Whether no further state may start: the run was stopped, or it waits for a restart of the host.
 */
export const isHalted = (run: RunState): boolean =>
  run.restart !== undefined || run.host.stopping();
