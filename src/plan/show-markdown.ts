import { codeFence, inlineMarkdown } from '../output/markdown-text.ts';
import { hostList } from '../output/shared-errors.ts';
import { type ChangeGroup, changeGroups, changeText } from './groups.ts';
import type { Plan } from './plan.ts';
import { callText, failedGroups, namesOf, summaryLine, titleOf } from './show.ts';
import { shownSteps, stepsSummary } from './show-steps.ts';

/** The plan for the page of a change request. */
export const planMarkdown = (plan: Plan): string =>
  [
    `# Plan ${inlineMarkdown(plan.jid)}`,
    '',
    `${inlineMarkdown(callText(plan))}`,
    '',
    `${inlineMarkdown(plan.steps ? stepsSummary(plan, plan.steps) : summaryLine(plan))} It expires ${inlineMarkdown(plan.expires)}.`,
    ...(plan.steps ? stepBlocks(plan) : changeGroups(plan).flatMap(groupBlocks)),
    ...(plan.failed.length === 0
      ? []
      : [
          '',
          '## Without a plan',
          '',
          ...failedGroups(plan.failed).map(
            ({ ids, message }) =>
              `- ${inlineMarkdown(hostList(new Set(ids)))}: ${inlineMarkdown(message)}`,
          ),
        ]),
    ...findingBlocks(plan),
    '',
  ].join('\n');

/** The steps of an orchestration, with the changes on their hosts. */
const stepBlocks = (plan: Plan): string[] =>
  shownSteps(plan).flatMap(({ title, notes, groups }) => [
    '',
    `# ${inlineMarkdown(title)}`,
    '',
    ...notes.map(note => `- ${inlineMarkdown(note)}`),
    ...groups.flatMap(groupBlocks),
  ]);

/** Lists findings with their hosts. */
export const findingBlocks = ({ findings }: Pick<Plan, 'findings'>): string[] =>
  findings.length === 0
    ? []
    : [
        '',
        '## Findings',
        '',
        ...findings.map(
          ({ message, hosts }) =>
            `- ${inlineMarkdown(hosts.length === 0 ? message : `${message} (${namesOf(hosts)})`)}`,
        ),
      ];

/** A group of equal changes with its diffs. */
export const groupBlocks = ({ hosts, changes }: ChangeGroup): string[] => [
  '',
  `## ${hosts.length === 1 ? '1 host' : `${hosts.length} hosts alike`}: ${inlineMarkdown(namesOf(hosts))}`,
  ...changes.flatMap(change => {
    const made = changeText(change);
    return [
      '',
      `**${inlineMarkdown(titleOf(change))}**`,
      ...codeFence(change.comment),
      ...(made === undefined ? [] : codeFence(made.text, made.isDiff ? 'diff' : 'json')),
    ];
  }),
];
