import { toDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { isPlainDict, type Plain } from '../protocol/plain.ts';
import { type BoundRun, type Prediction, predictionOf } from '../protocol/plan.ts';
import { withSortedKeys } from '../protocol/prefetch.ts';
import type { WrapperFunction } from './define.ts';
import { runLow, runSettings, withView } from './run-low.ts';

/**
 * Makes the function of a plan's call, with the chunks of the plan instead of compiled ones. The
 * host first predicts again; if the prediction of a state differs, nothing is changed. In test mode
 * it ends there.
 *
 * @throws TsaltError `plan-drift`
 */
export const plannedFunction = (fun: WrapperFunction, planned: BoundRun): WrapperFunction => ({
  ...fun,
  work: call =>
    withView(call, async given => {
      const view = { ...given, saltenv: planned.saltenv, opts: toDict(planned.opts), test: false };
      const { ctx } = view;
      // In test mode a host that was compared is predicted all the same: for its results.
      if (planned.isCompared && !given.test) return runLow(view, planned.chunks, []);
      const { states, retcode } = await ctx.predict(planned.chunks, {
        ...runSettings(view),
        test: true,
      });
      const now = Object.entries(states).map(([tag, result]) => predictionOf(tag, result));
      refuseDrift(ctx.id, planned.predicted, now);
      // `test: true` in the host's configuration has the same effect as `--dry-run`.
      return given.test ? { states, retcode } : runLow(view, planned.chunks, []);
    }),
});

/** One state whose prediction differs from the plan. */
type Drift = { readonly planned?: Prediction | undefined; readonly now?: Prediction | undefined };

/**
 * Refuses a host whose predictions are not those of its plan.
 *
 * @throws TsaltError `plan-drift`
 */
export const refuseDrift = (
  id: string,
  planned: readonly Prediction[],
  now: readonly Prediction[],
): void => {
  const drifts = driftBetween(planned, now);
  if (drifts.length === 0) return;
  const isDone = drifts.every(
    drift => drift.planned?.result === null && drift.now?.result === true && !changes(drift.now),
  );
  const count = drifts.length === 1 ? '1 state differs' : `${drifts.length} states differ`;
  const head = isDone
    ? `${id}: the plan is out of date: its changes are already in place. ${count}; nothing was changed.`
    : `${id} differs from the plan: ${count}. Nothing was changed there.`;
  const shown = drifts.slice(0, mostShown).map(textOf);
  const more = drifts.length > mostShown ? [`… and ${drifts.length - mostShown} more states`] : [];
  throw new TsaltError('plan-drift', [head, ...shown, ...more].join('\n'), {
    kind: 'drift',
    hint: 'Make a new plan of it: --plan-out.',
  });
};

/** Pairs the predictions of a plan with the current ones, and removes equal pairs. */
export const driftBetween = (
  planned: readonly Prediction[],
  now: readonly Prediction[],
): readonly Drift[] => {
  const left = new Map(now.map(one => [one.tag, one]));
  const drifts: Drift[] = [];
  for (const one of planned) {
    const other = left.get(one.tag);
    left.delete(one.tag);
    if (!other || identity(one) !== identity(other)) drifts.push({ planned: one, now: other });
  }
  return [...drifts, ...[...left.values()].map(one => ({ now: one }))];
};

const identity = ({ name, changes: made, result, comment }: Prediction): string =>
  JSON.stringify(withSortedKeys([name, made, result, comment]));

const changes = (prediction: Prediction): boolean => Object.keys(prediction.changes).length > 0;

const mostShown = 5;
const mostLines = 20;

const textOf = ({ planned, now }: Drift): string => {
  const { tag, id, name } = planned ?? (now as Prediction);
  const [state = ''] = tag.split('_|-');
  const fun = tag.slice(tag.lastIndexOf('_|-') + 3);
  return [
    `  ${state}.${fun} ${short(name)} (ID ${short(id)})`,
    `    planned: ${outcomeOf(planned)}`,
    `    now:     ${outcomeOf(now)}`,
  ].join('\n');
};

const outcomeOf = (prediction: Prediction | undefined): string => {
  if (prediction === undefined) return 'the state does not run';
  const { result, comment } = prediction;
  const verdict = result === null ? 'would change' : result ? 'no change' : 'would fail';
  return [`${verdict}: ${short(comment)}`, ...changeLines(prediction)].join('\n');
};

/** Returns the diff, or the changes as JSON, shortened: a host may send much. */
const changeLines = ({ changes: made }: Prediction): string[] => {
  if (Object.keys(made).length === 0) return [];
  const text = typeof made.diff === 'string' ? made.diff : JSON.stringify(made);
  const lines = text.split('\n').filter(line => line !== '');
  const shown = lines.slice(0, mostLines).map(line => `      ${line.slice(0, 300)}`);
  return lines.length > mostLines ? [...shown, '      …'] : shown;
};

const short = (value: Plain): string => {
  const text =
    typeof value === 'string'
      ? value
      : isPlainDict(value) || Array.isArray(value)
        ? JSON.stringify(value)
        : String(value);
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};
