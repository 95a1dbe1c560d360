import { requisiteEdges } from '../compiler/requisite-edges.ts';
import type { PageAbout } from '../output/html/about.ts';
import type { OutputOptions } from '../output/options.ts';
import { createOutput } from '../output/output.ts';
import type { Output } from '../output/request.ts';
import type { HostResult } from '../protocol/event.ts';
import { setOwn } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';
import { changeGroups, unchangedHosts } from './groups.ts';
import { type Plan, type PlannedHost, predictionsOf } from './plan.ts';
import { callText, findingItems, shownTime, summaryLine } from './show.ts';
import { stepSummaries, wholePlanText } from './show-steps.ts';

/** The formats of a plan. */
export const planFormats = ['text', 'json', 'markdown', 'html'] as const;

type PlanFormat = (typeof planFormats)[number];

type Shown = {
  readonly options: OutputOptions;
  readonly write: (text: string) => void;
  /** The command that applies the plan. */
  readonly apply: string;
};

/** Writes a plan in a format. */
export const showPlan = async (plan: Plan, format: PlanFormat, shown: Shown): Promise<void> => {
  const { write } = shown;
  if (format === 'text') write(wholePlanText(plan));
  else if (format === 'json') write(`${JSON.stringify(planSummary(plan), null, 2)}\n`);
  else if (format === 'markdown') write((await import('./show-markdown.ts')).planMarkdown(plan));
  else await writeHtml(plan, shown);
};

/** Summarizes the plan for programs: the changes, by groups of hosts. */
const planSummary = (plan: Plan): object => {
  const { tsalt, artifact, created, expires, jid, call, failed, findings } = plan;
  const groups = changeGroups(plan);
  const kwargs = { ...call.kwargs, ...('pillar' in call.kwargs ? { pillar: '…' } : {}) };
  return {
    version: 1,
    jid,
    tsalt,
    artifact,
    created,
    expires,
    call: { ...call, kwargs },
    hosts: Object.keys(plan.hosts),
    groups,
    unchanged: unchangedHosts(plan),
    ...(plan.steps ? { steps: stepSummaries(plan, plan.steps) } : {}),
    failed,
    findings,
  };
};

/** The page of a run with the predictions as its results, and what hosts have in common above. */
const writeHtml = async (plan: Plan, { options, write, apply }: Shown): Promise<void> => {
  const output = await createOutput({
    options: { ...options, out: 'html', color: false, static: true },
    write,
    complain: () => undefined,
    logLevel: 'quiet',
    timeline: false,
    about: () => planPage(plan, apply),
  });
  const { fun } = plan.call;
  output.emit({ type: 'start', hosts: Object.keys(plan.hosts), fun });
  for (const [id, host] of Object.entries(plan.hosts)) emitHost(output, plan, id, host);
  for (const { id: step, bound } of plan.steps ?? [])
    for (const [id, host] of Object.entries(bound)) emitHost(output, plan, `${id} (${step})`, host);
  for (const { id, message } of plan.failed)
    output.emit({
      type: 'host',
      result: { id, fun, retcode: 1, failure: { kind: 'unreachable', code: 'no-plan', message } },
    });
  await output.finish();
};

const emitHost = (output: Output, plan: Plan, id: string, host: PlannedHost): void => {
  const chunks = host.chunks.flatMap(at => plan.chunks[at] ?? []);
  const requisites = () => requisiteEdges(chunks);
  output.emit({ type: 'plan', host: id, total: chunks.length, requisites });
  output.emit({ type: 'host', result: resultOf(plan, id, host) });
};

/** Returns what the page of a plan has beside the results. */
const planPage = (plan: Plan, apply: string): PageAbout => ({
  title: `Plan ${plan.jid}`,
  facts: [
    ['Call', callText(plan)],
    ['Hosts', summaryLine(plan)],
    ['Made', shownTime(plan.created)],
    ['Expires', shownTime(plan.expires)],
    ['Made by', `tsalt-ssh ${plan.tsalt}`],
  ],
  outcomes: {
    unreachable: 'without a plan',
    failed: 'would fail',
    changed: 'would change',
    ok: 'unchanged',
  },
  changes: 'What would change',
  groups: changeGroups(plan).map(({ hosts, changes }) => ({
    hosts,
    changes: changes.map(state => ({ state })),
  })),
  lists: [
    { title: 'Without a plan', items: plan.failed.map(({ id, message }) => `${id}: ${message}`) },
    { title: 'Findings', items: findingItems(plan) },
  ],
  commands: [['Apply this plan', apply]],
});

const resultOf = (plan: Plan, id: string, host: PlannedHost): HostResult => {
  const states: StateResults = {};
  const predictions = predictionsOf(plan, host);
  for (const [at, { tag, id: own, sls, ...outcome }] of predictions.entries())
    setOwn(states, tag, {
      ...outcome,
      __id__: own,
      ...(sls === null ? {} : { __sls__: sls }),
      __run_num__: at,
      start_time: '',
      duration: 0,
    });
  const retcode = predictions.some(({ result }) => result === false) ? 2 : 0;
  return { id, fun: plan.call.fun, retcode, states };
};
