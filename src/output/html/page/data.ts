import {
  idPlaceholder,
  type ReportBody,
  type ReportData,
  type ReportHost,
  type ReportState,
} from '../model.ts';
import { byId } from './dom.ts';

export const data: ReportData = JSON.parse(byId('data').textContent ?? '{}');

/** Outcomes of hosts, the most severe first. */
export const severities = ['unreachable', 'failed', 'skipped', 'changed', 'ok'] as const;

const inOrder = new Intl.Collator('en', { numeric: true });

/** The most severe outcomes come first. */
export const hosts: readonly ReportHost[] = data.hosts
  .map(({ shape, ...host }) => ({ ...host, states: data.shapes[shape] ?? [] }))
  .sort(
    (a, b) =>
      severities.indexOf(a.outcome) - severities.indexOf(b.outcome) || inOrder.compare(a.id, b.id),
  );

/** The name of a host's outcome: a plan or an audit has others than a run. */
export const hostWord = (outcome: ReportHost['outcome']): string =>
  data.about?.outcomes[outcome] ?? outcome;

export const outcomeNames = ['unchanged', 'changed', 'would change', 'failed'] as const;
export const outcomeMarks = ['·', '+', '~', '✗'] as const;
export const outcomeClasses = ['clean', 'changed', 'differs', 'failed'] as const;

/** One result of a host, with the host's own id where folded texts left it out. */
export type PageResult = {
  readonly state: ReportState;
  readonly stateAt: number;
  readonly outcome: number;
  readonly comment: string;
  readonly changes: ReportBody[2];
  readonly start: number;
  readonly duration: number;
};

export const resultsOf = (host: ReportHost): PageResult[] =>
  host.states.flatMap((stateAt, at) => {
    const state = data.states[stateAt];
    const body = data.bodies[host.bodies[at] ?? -1];
    if (state === undefined || body === undefined) return [];
    const whole = (text: string): string => text.replaceAll(idPlaceholder, host.id);
    const [outcome, comment, changes] = body;
    return [
      {
        state,
        stateAt,
        outcome,
        comment: whole(comment),
        changes: changes.map(
          ([label, text, isDiff]) => [whole(label), whole(text), isDiff] as const,
        ),
        start: host.starts[at] ?? 0,
        duration: host.durations[at] ?? 0,
      },
    ];
  });

export const shownOutcome = (host: ReportHost, at: number): number =>
  data.bodies[host.bodies[at] ?? -1]?.[0] ?? 0;

/** Counts of a host's results by outcome. */
export const countsOf = (host: ReportHost): readonly number[] => {
  const counts = [0, 0, 0, 0];
  for (const at of host.bodies.keys()) {
    const outcome = shownOutcome(host, at);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
};

export const countsText = (host: ReportHost): string =>
  countsOf(host)
    .map((count, outcome) => (count > 0 ? `${count} ${outcomeNames[outcome]}` : ''))
    .filter(text => text !== '')
    .join(', ');
