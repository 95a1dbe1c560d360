import type { ReportAbout, ReportGroup } from '../model.ts';
import { resultRow } from './detail.ts';
import { byId, make } from './dom.ts';

/** Hosts that are named one by one before the rest is folded. */
const mostNamed = 12;

/** Changes that are open at the begin. */
const mostOpen = 12;

/** Shows what hosts have in common, and the lists of a plan or an audit. */
export const showGroups = (about: ReportAbout, select: (id: string) => void): void => {
  const section = byId('changes');
  const count = about.groups.reduce((sum, { changes }) => sum + changes.length, 0);
  if (count > 0) section.append(make('h2', {}, about.changes));
  for (const group of about.groups) section.append(groupOf(group, count <= mostOpen, select));
  if (about.left !== undefined) section.append(make('p', { class: 'note' }, about.left));
  for (const { title, items } of about.lists)
    if (items.length > 0)
      section.append(
        make('h2', {}, title),
        make('ul', {}, ...items.map(item => make('li', {}, item))),
      );
  section.hidden = section.childElementCount === 0;
};

const groupOf = (
  { hosts, changes }: ReportGroup,
  isOpen: boolean,
  select: (id: string) => void,
): HTMLElement => {
  const title = hosts.length === 1 ? '1 host' : `${hosts.length} hosts alike`;
  const buttons = hosts.map(id => {
    const button = make('button', { type: 'button' }, id);
    button.addEventListener('click', () => select(id));
    return button;
  });
  const rest = buttons.splice(mostNamed);
  const more =
    rest.length === 0
      ? undefined
      : make('details', {}, make('summary', {}, `${rest.length} more`), ...rest);
  const rows = changes.map(([id, fun, name, sls, [outcome, comment, texts], note]) => {
    const state = [id, fun, name, sls] as const;
    const row = resultRow({ state, outcome, comment, changes: texts, start: 0, duration: 0 }, note);
    row.open = isOpen;
    return row;
  });
  const head = make('div', { class: 'hosts' }, make('h3', {}, title), ...buttons, more);
  return make('div', { class: 'group' }, head, ...rows);
};
