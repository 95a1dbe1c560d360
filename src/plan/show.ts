import { hostList, neutralText } from '../output/shared-errors.ts';
import { harmless, oneLine, showValue } from '../output/text.ts';
import type { Prediction } from '../protocol/plan.ts';
import {
  type ChangeGroup,
  changeGroups,
  changeText,
  diffSize,
  functionOf,
  unchangedHosts,
  verdictOf,
} from './groups.ts';
import type { Plan } from './plan.ts';

/** Limit of hosts that are listed by name. */
const mostNamed = 20;

/** The plan for a terminal: each change once, with the hosts that it is for. */
export const planText = (
  plan: Plan,
  summary = summaryLine(plan),
  changes: readonly string[] = changeGroups(plan).flatMap(groupLines),
): string =>
  [
    `Plan ${plan.jid}: ${callText(plan)}`,
    `Made ${shownTime(plan.created)}, expires ${shownTime(plan.expires)}, by tsalt-ssh ${oneLine(plan.tsalt)}.`,
    summary,
    ...changes,
    ...failedLines(plan),
    ...findingLines(plan),
    '',
  ].join('\n');

/** Counts the hosts of a plan. */
export const summaryLine = (plan: Plan): string => {
  const [total, same] = [Object.keys(plan.hosts).length, unchangedHosts(plan).length];
  const parts = [`${hostCount(total)}: ${total - same} would change, ${same} unchanged`];
  if (plan.failed.length > 0) parts.push(`${hostCount(plan.failed.length)} without a plan`);
  return `${parts.join('; ')}.`;
};

/** Counts hosts in words. */
export const hostCount = (count: number): string => (count === 1 ? '1 host' : `${count} hosts`);

/** Formats the call, without values that may be secrets. */
export const callText = ({ call: { target, fun, args, kwargs } }: Plan): string => {
  const words = [
    ...args.map(value => showValue(value)),
    ...Object.entries(kwargs).map(([key, value]) =>
      key === 'pillar' ? 'pillar=…' : `${key}=${showValue(value)}`,
    ),
  ];
  return oneLine([target, fun, ...words].join(' '));
};

/** A time in ISO 8601 to the second. */
export const shownTime = (time: string): string =>
  new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

/** Lists hosts; of very many, only the first. */
export const namesOf = (hosts: readonly string[]): string => {
  const sorted = [...hosts].sort().map(oneLine);
  const rest = sorted.length - mostNamed;
  return `${sorted.slice(0, mostNamed).join(', ')}${rest > 0 ? ` … and ${rest} more` : ''}`;
};

/** The changes of a group of hosts. */
export const groupLines = ({ hosts, changes }: ChangeGroup): string[] => [
  '',
  groupTitle(hosts),
  ...changes.flatMap(change => changeLines(change)),
];

/** Names the hosts of a group. */
export const groupTitle = (hosts: readonly string[]): string =>
  hosts.length === 1 ? `${namesOf(hosts)}:` : `${hosts.length} hosts alike: ${namesOf(hosts)}`;

/**
 * Formats one change: title, ID and SLS, comment, diff.
 *
 * @param note a line below the title
 */
export const changeLines = (change: Prediction, note?: string): string[] => {
  const made = changeText(change);
  const indent = (text: string): string[] =>
    harmless(text)
      .split(/\n|\u2028|\u2029/)
      .map(line => `      ${line}`);
  return [
    `  ${titleOf(change)}`,
    `    ${oneLine(`ID ${change.id}${change.sls === null ? '' : `, SLS ${change.sls}`}`)}`,
    ...(note === undefined ? [] : [`    ${note}`]),
    ...harmless(change.comment.trimEnd())
      .split(/\n|\u2028|\u2029/)
      .map(line => `    ${line}`),
    ...(made === undefined ? [] : indent(made.text)),
  ];
};

/** `change: file.managed /etc/ssh/sshd_config (+1 -1)`. */
export const titleOf = (change: Prediction): string => {
  const made = changeText(change);
  const { added, removed } = made?.isDiff ? diffSize(made.text) : { added: 0, removed: 0 };
  const size = made?.isDiff ? ` (+${added} -${removed})` : '';
  return oneLine(`${verdictOf(change)}: ${functionOf(change)} ${showValue(change.name)}${size}`);
};

const failedLines = ({ failed }: Plan): string[] =>
  failed.length === 0
    ? []
    : [
        '',
        'Without a plan:',
        ...failedGroups(failed).map(({ ids, message }) => {
          const hosts = ids.length === 1 ? '' : `${ids.length} hosts: `;
          return `  ${hosts}${hostList(new Set(ids))}: ${oneLine(message.split('\n')[0] ?? '')}`;
        }),
      ];

/** Hosts whose errors differ in their own id and address alone are one group. */
export const failedGroups = (
  failed: Plan['failed'],
): readonly { readonly ids: readonly string[]; readonly message: string }[] => {
  const groups = new Map<string, { ids: string[]; message: string }>();
  for (const { id, message } of failed) {
    const key = neutralText(id, message);
    const group = groups.get(key);
    if (group) group.ids.push(id);
    else groups.set(key, { ids: [id], message });
  }
  return [...groups.values()];
};

/** Lists findings with their hosts. */
export const findingLines = ({ findings }: Pick<Plan, 'findings'>): string[] =>
  findings.length === 0
    ? []
    : ['', 'Findings:', ...findingItems({ findings }).map(item => `  ${item}`)];

/** Words findings, with their hosts. */
export const findingItems = ({ findings }: Pick<Plan, 'findings'>): string[] =>
  findings.map(
    ({ message, hosts }) =>
      `${oneLine(message)}${hosts.length === 0 ? '' : ` (${namesOf(hosts)})`}`,
  );
