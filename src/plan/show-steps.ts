import { oneLine } from '../output/text.ts';
import { isStepTag, type Prediction } from '../protocol/plan.ts';
import { type ChangeGroup, functionOf, groupChanges } from './groups.ts';
import { isNotable, type Plan, type PlannedStep, predictionsOf, stepHosts } from './plan.ts';
import { changeLines, groupLines, hostCount, namesOf, planText } from './show.ts';

/** One state of an orchestration, for a person. */
type ShownStep = {
  readonly title: string;
  /** What is compiled when the step runs, and why. */
  readonly notes: readonly string[];
  readonly groups: readonly ChangeGroup[];
  /** The prediction of a state that runs on the control node itself. */
  readonly own?: Prediction;
};

/** A plan for a terminal; that of an orchestration step by step. */
export const wholePlanText = (plan: Plan): string =>
  plan.steps
    ? planText(plan, stepsSummary(plan, plan.steps), shownSteps(plan).flatMap(stepLines))
    : planText(plan);

/** Counts the steps and hosts of a plan. */
export const stepsSummary = (plan: Plan, steps: readonly PlannedStep[]): string => {
  const hosts = stepHosts(plan);
  const changed = new Set(
    steps.flatMap(step => groupsOf(plan, step).flatMap(group => group.hosts)),
  );
  const open = steps.filter(({ why, later }) => why !== undefined || later.length > 0).length;
  const count = `${steps.length === 1 ? '1 step' : `${steps.length} steps`} on ${hostCount(hosts.length)}`;
  const pending =
    open === 0 ? '' : `; ${open === 1 ? '1 step is' : `${open} steps are`} compiled when run`;
  return `${count}: ${changed.size} would change${pending}.`;
};

/** The steps of a plan for programs. */
export const stepSummaries = (plan: Plan, steps: readonly PlannedStep[]): object[] =>
  steps.map(step => {
    const { tag, id, hosts, later, why } = step;
    return {
      id,
      tag,
      hosts,
      ...(why === undefined ? {} : { why }),
      later,
      groups: groupsOf(plan, step),
    };
  });

/** The states of an orchestration in the order in which they run. */
export const shownSteps = (plan: Plan): ShownStep[] => {
  const byTag = new Map(plan.steps?.map(step => [step.tag, step]));
  return Object.values(plan.hosts)
    .flatMap(host => predictionsOf(plan, host))
    .flatMap((prediction): ShownStep[] => {
      const step = byTag.get(prediction.tag);
      if (step) return [shownStep(plan, step, prediction)];
      if (isStepTag(prediction.tag) || !isNotable(prediction)) return [];
      return [{ title: `State ${prediction.id}`, notes: [], groups: [], own: prediction }];
    });
};

const shownStep = (plan: Plan, step: PlannedStep, prediction: Prediction): ShownStep => {
  const { id, hosts, later, why } = step;
  const where = hosts.length === 0 ? '' : ` on ${namesOf(hosts)}`;
  const notes = [
    ...(why === undefined ? [] : [`Compiled when it runs: ${why}.`]),
    ...later.map(
      ({ id: host, message }) =>
        `${host} is compiled when the step runs: ${message.split('\n')[0]?.replace(/\.$/, '')}.`,
    ),
    ...(prediction.result === false || functionOf(prediction) !== 'salt.state'
      ? [prediction.comment.trim()]
      : []),
  ];
  const title = `Step ${id} (${functionOf(prediction)}${where})`;
  return { title, notes, groups: groupsOf(plan, step) };
};

const groupsOf = (plan: Plan, { bound }: PlannedStep): readonly ChangeGroup[] =>
  groupChanges(Object.entries(bound).map(([id, host]) => [id, predictionsOf(plan, host)] as const));

const stepLines = ({ title, notes, groups, own }: ShownStep): string[] => [
  '',
  oneLine(title),
  ...notes.map(note => `  ${oneLine(note)}`),
  ...(own === undefined ? [] : changeLines(own)),
  ...groups.flatMap(groupLines),
];
