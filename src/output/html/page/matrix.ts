import type { ReportHost } from '../model.ts';
import {
  countsText,
  data,
  hosts,
  hostWord,
  outcomeClasses,
  outcomeMarks,
  outcomeNames,
  shownOutcome,
} from './data.ts';
import { byId, make } from './dom.ts';

/** Hosts whose results are equal; they share a row while rows are folded. */
type Group = { readonly hosts: readonly ReportHost[]; readonly row: HTMLElement };

export type RowFilter = {
  readonly outcome: string;
  readonly text: string;
  readonly folded: boolean;
};

let select: (id: string, state?: number) => void = () => undefined;
const cellOf = new Map<number, number>();
const groups = new Map<boolean, Group[]>();
const texts = new Map<ReportHost, string>();

/** Shows hosts and states; `onSelect` is called with the host, and the state, that was chosen. */
export const openMatrix = (onSelect: (id: string, state?: number) => void): void => {
  select = onSelect;
  for (const host of hosts)
    for (const state of host.states) if (!cellOf.has(state)) cellOf.set(state, cellOf.size);
  const head = byId('matrix-head');
  const titles = [...cellOf.keys()].map(state => {
    const [id, fun] = data.states[state] ?? ['', ''];
    const title = make('span', { role: 'columnheader', class: 'column', title: `${fun} ${id}` });
    title.append(make('span', {}, id === '' ? fun : id));
    return title;
  });
  head.append(make('span', { role: 'columnheader', class: 'host' }, 'Host'), ...titles);
};

/** Shows the rows that the filter lets through; returns how many hosts these are. */
export const showMatrix = (filter: RowFilter): number => {
  const body = byId('matrix-body');
  const search = filter.text.trim().toLowerCase();
  const shown = groupsOf(filter.folded).filter(group =>
    group.hosts.some(host => isShown(host, filter.outcome, search)),
  );
  body.replaceChildren(...shown.map(({ row }) => row));
  return shown.reduce((sum, group) => sum + group.hosts.length, 0);
};

const isShown = (host: ReportHost, outcome: string, search: string): boolean =>
  (outcome === 'all' || host.outcome === outcome) &&
  (search === '' || textOf(host).includes(search));

/** All that the search looks at: the host's id, its states, and the comments of its results. */
const textOf = (host: ReportHost): string => {
  const known = texts.get(host);
  if (known !== undefined) return known;
  const states = host.states.flatMap((state, at) => [
    ...(data.states[state] ?? []),
    data.bodies[host.bodies[at] ?? -1]?.[1] ?? '',
  ]);
  const text = [host.id, host.outcome, host.failure ?? '', ...states].join('\n').toLowerCase();
  texts.set(host, text);
  return text;
};

const groupsOf = (folded: boolean): Group[] => {
  const known = groups.get(folded);
  if (known) return known;
  const equal = new Map<string, ReportHost[]>();
  for (const host of hosts) {
    const key = folded ? keyOf(host) : host.id;
    const list = equal.get(key);
    if (list) list.push(host);
    else equal.set(key, [host]);
  }
  const made = [...equal.values()].map(list => ({ hosts: list, row: rowOf(list) }));
  groups.set(folded, made);
  return made;
};

/** Hosts with this key in common had equal results, whatever time they took. */
export const keyOf = (host: ReportHost): string =>
  JSON.stringify([
    host.outcome,
    host.failure?.replaceAll(host.id, ''),
    host.states,
    host.bodies,
    host.note,
  ]);

const rowOf = (list: readonly ReportHost[]): HTMLElement => {
  const [first] = list;
  if (first === undefined) return make('div');
  const name = list.length === 1 ? first.id : `${list.length} hosts alike: ${namesOf(list)}`;
  const about = `${hostWord(first.outcome)}${first.states.length > 0 ? ` – ${countsText(first)}` : ''}`;
  const button = make('button', { type: 'button', class: 'name', title: about }, name);
  button.append(make('span', { class: 'hidden' }, `, ${about}`));
  button.addEventListener('click', () => select(first.id));
  const head = make('span', { role: 'rowheader', class: `host ${first.outcome}` }, button);
  const row = make('div', { role: 'row', class: 'row', 'data-host': first.id }, head);
  row.append(...cellsOf(first));
  row.addEventListener('click', event => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.state : undefined;
    if (at !== undefined) select(first.id, Number(at));
  });
  return row;
};

const cellsOf = (host: ReportHost): HTMLElement[] => {
  const outcomes = new Map(host.states.map((state, at) => [state, shownOutcome(host, at)]));
  return [...cellOf.keys()].map(state => {
    const outcome = outcomes.get(state);
    const cell = document.createElement('span');
    cell.setAttribute('role', 'cell');
    if (outcome === undefined) {
      cell.className = 'cell';
      return cell;
    }
    cell.className = `cell ${outcomeClasses[outcome]}`;
    cell.textContent = outcomeMarks[outcome] ?? '';
    cell.setAttribute('aria-label', outcomeNames[outcome] ?? '');
    cell.dataset.state = String(state);
    return cell;
  });
};

const namesOf = (list: readonly ReportHost[]): string =>
  list.length <= 4
    ? list.map(({ id }) => id).join(', ')
    : `${list
        .slice(0, 3)
        .map(({ id }) => id)
        .join(', ')}, …`;
