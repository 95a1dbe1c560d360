import { codeFence, inlineMarkdown } from '../output/markdown-text.ts';
import { neutralText } from '../output/shared-errors.ts';
import { oneLine } from '../output/text.ts';
import { type ChangeGroup, groupChanges } from '../plan/groups.ts';
import {
  changeLines,
  findingLines,
  groupTitle,
  hostCount,
  namesOf,
  shownTime,
} from '../plan/show.ts';
import { findingBlocks, groupBlocks } from '../plan/show-markdown.ts';
import type { Prediction } from '../protocol/plan.ts';
import { type Audit, auditOutcomes, countOf, type Drift, type HostAudit } from './audit.ts';

/** Clean hosts that have a line each; of more, the number is shown. */
const mostClean = 20;

/** The audit for a terminal: a line per host, each difference once, and how it compares. */
export const auditText = (audit: Audit): string =>
  [
    ...table(audit),
    '',
    auditSummary(audit),
    ...driftGroups(audit).flatMap(group => [
      '',
      groupTitle(group.hosts),
      ...group.changes.flatMap(change => changeLines(change, sinceNote(audit, group, change))),
    ]),
    ...section('Gone since the last audit:', goneLines(audit)),
    ...section('Without a result:', reasonLines(audit)),
    ...findingLines(audit),
    '',
  ].join('\n');

/** The audit for a page: a chat, a wiki, the summary of a job. */
export const auditMarkdown = (audit: Audit): string =>
  [
    `# Audit ${inlineMarkdown(audit.jid)}`,
    '',
    inlineMarkdown(auditSummary(audit)),
    '',
    '| Host | Result | Drift | New | Failed | States |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    ...rows(audit).map(
      ({ name, cells }) =>
        `| ${[inlineMarkdown(name).replaceAll('|', '\\|'), ...cells].join(' | ')} |`,
    ),
    ...driftGroups(audit).flatMap(groupBlocks),
    ...sectionBlocks('Gone since the last audit', goneLines(audit)),
    ...sectionBlocks('Without a result', reasonLines(audit)),
    ...findingBlocks(audit),
    '',
  ].join('\n');

/** The audit for programs. */
export const auditJson = ({ hosts, ...audit }: Audit): string => {
  const shown = Object.entries(hosts).map(([id, { drift, ...host }]) => [
    id,
    { ...host, drift: drift.map(({ state, ...about }) => ({ ...state, ...about })) },
  ]);
  return `${JSON.stringify({ version: 1, ...audit, hosts: Object.fromEntries(shown) }, null, 2)}\n`;
};

/** Counts the hosts, and says how they compare with the last audit. */
export const auditSummary = (audit: Audit): string => {
  const all = Object.values(audit.hosts);
  const outcomes = auditOutcomes.toReversed().flatMap(outcome => {
    const count = countOf(audit, outcome);
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const counts = `${hostCount(all.length)}: ${outcomes.join(', ')}.`;
  if (audit.previous === undefined) return counts;
  const drift = all.flatMap(host => host.drift);
  const isNew = drift.filter(one => one.isNew).length;
  const gone = all.reduce((sum, host) => sum + host.gone.length, 0);
  return `${counts} Drift since the audit of ${shownTime(audit.previous)}: ${isNew} new, ${gone} gone, ${drift.length - isNew} known.`;
};

type Row = { readonly name: string; readonly cells: readonly string[] };

const rows = ({ hosts }: Audit): Row[] => {
  const sorted = Object.entries(hosts).toSorted(
    ([a, one], [b, other]) =>
      auditOutcomes.indexOf(one.outcome) - auditOutcomes.indexOf(other.outcome) || (a < b ? -1 : 1),
  );
  const clean = sorted.filter(([, { outcome }]) => outcome === 'clean');
  const named = clean.length > mostClean ? sorted.slice(0, -clean.length) : sorted;
  return [
    ...named.map(([id, host]) => ({ name: oneLine(id), cells: cellsOf(host) })),
    ...(named === sorted ? [] : [{ name: hostCount(clean.length), cells: ['clean'] }]),
  ];
};

const cellsOf = ({ outcome, drift, failed, states }: HostAudit): string[] => [
  outcome,
  String(drift.length),
  String(drift.filter(one => one.isNew).length),
  String(failed.length),
  String(states),
];

const widths = [13, 7, 7, 8, 8];

const table = (audit: Audit): string[] => {
  const shown = rows(audit);
  const width = Math.min(40, Math.max(6, ...shown.map(({ name }) => name.length + 2)));
  const line = (name: string, [outcome = '', ...counts]: readonly string[]): string =>
    [
      name.length > width - 2 ? `${name.slice(0, width - 3)}…  ` : name.padEnd(width),
      outcome.padEnd(widths[0] ?? 0),
      ...counts.map((count, at) => count.padStart(widths[at + 1] ?? 0)),
    ]
      .join('')
      .trimEnd();
  return [
    line('Host', ['result', 'drift', 'new', 'failed', 'states']),
    ...shown.map(({ name, cells }) => line(name, cells)),
  ];
};

/** Groups the differences and failures of hosts. */
export const driftGroups = ({ hosts }: Audit): readonly ChangeGroup[] =>
  groupChanges(
    Object.entries(hosts).map(
      ([id, { drift, failed }]) => [id, [...drift.map(({ state }) => state), ...failed]] as const,
    ),
  );

/** Since when hosts have had a difference; nothing for one that this audit is the first to see. */
export const sinceNote = (
  { hosts, began }: Audit,
  group: ChangeGroup,
  change: Prediction,
): string | undefined => {
  const found = group.hosts.flatMap(id =>
    (hosts[id]?.drift ?? []).flatMap(drift =>
      drift.state.tag === change.tag ? [{ id, drift }] : [],
    ),
  );
  const isNew = found.filter(({ drift }) => drift.isNew).map(({ id }) => id);
  const known = found.filter(({ drift }) => drift.since !== began);
  const since = oldestOf(known.map(({ drift }) => drift));
  const parts = [
    isNew.length === 0
      ? []
      : isNew.length === found.length
        ? ['new']
        : [`new on ${namesOf(isNew)}`],
    since === undefined ? [] : [`since ${shownTime(since)}`],
  ].flat();
  return parts.length === 0 ? undefined : parts.join('; ');
};

/** The earliest audit that found one of these. */
export const oldestOf = (drift: readonly Pick<Drift, 'since'>[]): string | undefined =>
  drift.map(({ since }) => since).sort()[0];

/** Names what is as wanted again, by host. */
export const goneLines = ({ hosts }: Audit): string[] =>
  Object.entries(hosts).flatMap(([id, { gone }]) => {
    const named = gone.flatMap(one => (one.id === undefined ? [] : [oneLine(one.id)]));
    const left = gone.length - named.length;
    if (left > 0) named.push(`${left === 1 ? '1 state' : `${left} states`} that it has no more`);
    return named.length === 0 ? [] : [`${oneLine(id)}: ${named.join(', ')}`];
  });

/** Hosts without a result, those with the same reason together. */
export const reasonLines = ({ hosts }: Audit): string[] => {
  const byReason = new Map<string, { readonly reason: string; readonly ids: string[] }>();
  for (const [id, { reason }] of Object.entries(hosts)) {
    if (reason === undefined) continue;
    const key = neutralText(id, reason);
    const known = byReason.get(key);
    byReason.set(key, { reason: known?.reason ?? reason, ids: [...(known?.ids ?? []), id] });
  }
  return [...byReason.values()].map(
    ({ reason, ids }) => `${namesOf(ids)}: ${oneLine(reason.split('\n')[0] ?? '')}`,
  );
};

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map(line => `  ${line}`)];

const sectionBlocks = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, ...codeFence(lines.join('\n'))];
