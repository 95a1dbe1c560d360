import type { LowChunk } from './low.ts';
import type { PlainDict } from './plain.ts';
import type { StateResult } from './result.ts';

/** A part of a string that the host chose; see `data/taint.ts`. */
export type PlannedRange = {
  readonly start: number;
  readonly end: number;
  readonly source: string;
  readonly isNode?: boolean | undefined;
  readonly isEscaped?: boolean | undefined;
  readonly isGuessed?: boolean | undefined;
};

/**
 * A string of the chunks with the parts that the host chose: it stays untrusted when the plan is
 * applied.
 */
export type PlannedTaint = {
  readonly text: string;
  readonly ranges: readonly PlannedRange[];
};

/** SHA-256 of files of the file roots, by saltenv and path. */
export type FileHashes = { readonly [saltenv: string]: { readonly [path: string]: string } };

/** One host's compiled run: all that is sent to apply it. */
export type PlannedRun = {
  readonly chunks: readonly LowChunk[];
  readonly saltenv: string;
  /** Options of the run (`localconfig`). */
  readonly opts: PlainDict;
  /** SHA-256 of sources and of rendered templates, by a name for messages. */
  readonly sources: { readonly [source: string]: string };
  readonly tainted: readonly PlannedTaint[];
};

/** One host's part of a plan, without its predictions. */
export type PlannedJob = PlannedRun & {
  /** SHA-256 of the artifact. */
  readonly artifact: string;
  /** The files named by the chunks. */
  readonly files: FileHashes;
  /** The folders named by the chunks: files added to them are noticed. */
  readonly folders: { readonly [saltenv: string]: readonly string[] };
  /** Where the chunks contain secrets, for messages. */
  readonly secrets: readonly string[];
};

/** The predicted outcome of one state. */
export type Prediction = Pick<StateResult, 'name' | 'changes' | 'result' | 'comment'> & {
  readonly tag: string;
  readonly id: string;
  readonly sls: string | null;
};

/** Extracts the prediction from a result in test mode, without times and secrets. */
export const predictionOf = (
  tag: string,
  { name, changes, result, comment, __id__, __sls__, no_log }: StateResult,
): Prediction => {
  const about = { tag, id: __id__, sls: __sls__ ?? null, name, result };
  if (no_log !== true) return { ...about, changes, comment };
  const hidden = Object.keys(changes).length > 0 ? { no_log: 'hidden' } : {};
  return { ...about, changes: hidden, comment: 'The output of this state is hidden (no_log).' };
};

/** A host's run of a plan with the predictions that must still hold. */
export type BoundRun = PlannedRun & {
  readonly predicted: readonly Prediction[];
  /** The predictions were compared already: the run does not predict again. */
  readonly isCompared?: boolean;
};

/** The plan that a request applies. */
export type AppliedPlan = {
  /** SHA-256 of the artifact that made the predictions. */
  readonly artifact: string;
  readonly runOf: (host: string) => BoundRun | undefined;
  /** Finds the step of an orchestration; undefined where it is compiled when it runs. */
  readonly stepOf?: (tag: string) => AppliedStep | undefined;
};

/** A step of an orchestration that a plan binds. */
export type AppliedStep = {
  /** The hosts of the step. */
  readonly hosts: readonly string[];
  /** The run of a host; undefined where its states are compiled when the step runs. */
  readonly runOf: (host: string) => BoundRun | undefined;
};

/** The hosts of a step, and what of it cannot be compiled before the step runs. */
export type StepTargets = {
  readonly tag: string;
  readonly id: string;
  /** The hosts, as far as they are known before the run. */
  readonly hosts: readonly string[];
  /** Why states of hosts are compiled when the step runs, by host. */
  readonly later: { readonly [host: string]: string };
  /** Why the whole step is compiled when it runs. */
  readonly why?: string;
};

/** The option of a run in test mode that makes a plan: all states predict their changes. */
export const planOption = '__plan__';

/** Whether a state is a step of an orchestration, by its tag. */
export const isStepTag = (tag: string): boolean => tag.startsWith('salt_|-');
