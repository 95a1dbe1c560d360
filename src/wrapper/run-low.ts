import { lowChunks } from '../compiler/chunks.ts';
import type { Compiled } from '../compiler/compile.ts';
import { allHandled } from '../compiler/handled.ts';
import { type Problem, problem } from '../compiler/problem.ts';
import { type SelectedStates, selectStates } from '../compiler/select-states.ts';
import { pauseIfLong } from '../data/pause.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { toPlainDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { StateResults } from '../protocol/result.ts';
import type { RunOutcome, RunSettings } from './context.ts';
import type { WrapperCall } from './define.ts';
import type { Outcome } from './outcome.ts';
import type { StateCallView } from './state-call.ts';
import { compileErrors, isFlagSet, pillarErrors, viewOf } from './state-call.ts';

/** Runs a call's body with its view. If the pillar is broken, that is the outcome. */
export const withView = async (
  call: WrapperCall,
  body: (view: StateCallView) => Promise<Outcome>,
): Promise<Outcome> => {
  let view: StateCallView;
  try {
    view = await viewOf(call);
  } catch (error) {
    return pillarErrors(error);
  }
  return body(view);
};

/**
 * Reads `queue`: a number limits how many runs may wait; absent, the option `state_queue` decides.
 */
const queueOf = (queue: Data | undefined): { queue?: boolean | number } =>
  queue === undefined || queue === null
    ? {}
    : { queue: typeof queue === 'number' ? queue : isFlagSet(queue) };

export const runLowChunks = (
  view: StateCallView,
  chunks: readonly LowChunk[],
): Promise<RunOutcome> => view.ctx.run(chunks, runSettings(view));

/** Returns the settings for the run of a call's chunks. */
export const runSettings = (view: StateCallView): RunSettings => {
  const { named, pillar, test } = view;
  return {
    test,
    saltenv: view.saltenv ?? 'base',
    pillar,
    pillarSettings: view.pillarSettings,
    opts: view.opts,
    ...queueOf(named.get('queue')),
    ...(named.has('concurrent') ? { concurrent: isFlagSet(named.get('concurrent')) } : {}),
  };
};

export const runCompiled = async (
  view: StateCallView,
  { chunks, errors }: Compiled,
): Promise<Outcome> => {
  await pauseIfLong();
  return runLow(view, lowChunks(chunks), errors);
};

export const runLow = async (
  view: StateCallView,
  chunks: readonly LowChunk[],
  errors: readonly Problem[],
): Promise<Outcome> => {
  if (errors.length > 0) return compileErrors(errors);
  if (chunks.length === 0) return { states: {}, retcode: 2 };
  const selected = selectedPart(view, chunks);
  if (selected?.fault !== undefined) return compileErrors([problem(selected.fault, undefined)]);
  const wanted = selected?.chunks ?? chunks;
  await pauseIfLong();
  const { states, retcode } = await runLowChunks(view, wanted);
  return {
    states: isFlagSet(view.named.get('terse')) ? withoutQuiet(states) : states,
    ...(selected ? { leftOut: selected.leftOut } : {}),
    retcode: retcode === 2 && allHandled(wanted, states) ? 0 : retcode,
  };
};

/** The states that `--only` and its like choose; undefined without such an option. */
export const selectedPart = (
  { ctx: { selection } }: StateCallView,
  chunks: readonly LowChunk[],
): SelectedStates | undefined => selection && selectStates(chunks, selection);

export const asLow = (chunk: Dict): LowChunk => toPlainDict(chunk) as LowChunk;

/** `terse=True`: only states that failed or changed something. */
const withoutQuiet = (states: StateResults): StateResults =>
  Object.fromEntries(
    Object.entries(states).filter(
      ([, { result, changes }]) => result !== true || Object.keys(changes).length > 0,
    ),
  );

/** Returns the error of a call whose data is not a dictionary. */
export const noDict = (fun: string, what: string): TsaltError =>
  new TsaltError('bad-argument', `${fun} takes ${what}: a dictionary`, {
    hint: "Write it as YAML or JSON: '{…}'.",
  });
