import type { Prediction } from '../../protocol/plan.ts';
import type { HostOutcome } from '../host-outcome.ts';
import { harmless } from '../text.ts';
import { bodyOf, pageJson } from './fold.ts';
import type { ReportAbout, ReportGroup } from './model.ts';

/** A change that several hosts have in common. */
type SharedChange = { readonly state: Prediction; readonly note?: string };

/** The parts of a page for a plan or an audit, beside the results of its hosts. */
export type PageAbout = {
  readonly title: string;
  /** Rows below the title. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Names of outcomes where they are others than those of a run. */
  readonly outcomes: Readonly<Partial<Record<HostOutcome, string>>>;
  /** The title above the changes that hosts have in common. */
  readonly changes: string;
  readonly groups: readonly {
    readonly hosts: readonly string[];
    readonly changes: readonly SharedChange[];
  }[];
  readonly lists: readonly { readonly title: string; readonly items: readonly string[] }[];
  readonly commands: readonly (readonly [label: string, command: string])[];
};

/** Bytes of the changes above the matrix, and how many. The matrix has all of them by host. */
const mostBytes = 1_500_000;
const mostChanges = 300;

/** Items of a list, and characters of one. */
const mostItems = 500;
const longestItem = 2000;

/** Returns the part of a plan or an audit for the page, cut to what it can show. */
export const aboutPage = (about: PageAbout): ReportAbout => {
  const { groups, left } = shownGroups(about);
  const note = `${left} more changes are in the table of hosts.`;
  return {
    facts: about.facts.map(([name, value]) => [name, shown(value)]),
    outcomes: about.outcomes,
    changes: about.changes,
    groups,
    ...(left === 0 ? {} : { left: note }),
    lists: about.lists.map(({ title, items }) => ({
      title,
      items: [
        ...items.slice(0, mostItems).map(shown),
        ...(items.length > mostItems ? [`${items.length - mostItems} more`] : []),
      ],
    })),
    commands: about.commands.map(([label, command]) => [label, harmless(command)]),
  };
};

const shownGroups = (about: PageAbout): { groups: ReportGroup[]; left: number } => {
  const groups: ReportGroup[] = [];
  let [count, bytes, left] = [0, 0, 0];
  for (const { hosts, changes } of about.groups) {
    const kept = changes.flatMap(({ state, note }) => {
      if (count >= mostChanges || bytes > mostBytes) {
        left += 1;
        return [];
      }
      const change: ReportGroup['changes'][number] = [
        ...stateTexts(state),
        bodyOf({ ...state, changes: state.changes }, ''),
        note ?? '',
      ];
      bytes += Buffer.byteLength(pageJson(change));
      count += 1;
      return [change];
    });
    if (kept.length > 0)
      groups.push({ hosts: hosts.map(id => harmless(id).slice(0, 500)), changes: kept });
  }
  return { groups, left };
};

const stateTexts = ({ tag, id, sls }: Prediction): [string, string, string, string] => {
  const [module = '', , name = '', fun = ''] = tag.split('_|-').map(part => shown(part));
  return [shown(id), `${module}.${fun}`, name, shown(sls ?? '')];
};

const shown = (text: string): string => harmless(text).slice(0, longestItem);
