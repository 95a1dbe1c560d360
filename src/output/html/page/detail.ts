import type { ReportHost } from '../model.ts';
import {
  countsText,
  data,
  hosts,
  hostWord,
  outcomeClasses,
  outcomeMarks,
  outcomeNames,
  type PageResult,
  resultsOf,
} from './data.ts';
import { byId, duration, make } from './dom.ts';
import { graphOf } from './graph.ts';
import { keyOf } from './matrix.ts';
import { timelineOf } from './timeline.ts';

/** Shows one host: its results, its timeline and its graph. Opens the given state. */
export const showHost = (id: string, state?: number): void => {
  const host = hosts.find(one => one.id === id);
  if (host === undefined) return;
  const results = resultsOf(host);
  const rows = new Map<number, HTMLDetailsElement>();
  const follow = (at: number): void => {
    const row = rows.get(at);
    if (row === undefined) return;
    row.hidden = false;
    row.open = true;
    row.scrollIntoView({ block: 'center' });
    row.querySelector('summary')?.focus();
  };
  const parts = [
    make('h2', { id: 'host-title', tabindex: -1 }, `${host.id} – ${hostWord(host.outcome)}`),
    make('p', {}, [countsText(host), timeOf(host)].filter(text => text !== '').join(' – ')),
    alike(host),
    host.failure === undefined ? undefined : make('pre', { class: 'failure' }, host.failure),
    host.note === undefined ? undefined : make('p', { class: 'note' }, host.note),
    ...(results.length > 0 ? resultParts(results, rows) : []),
    ...(host.phases.length > 0 ? [make('h3', {}, 'Timeline'), timelineOf(host, results)] : []),
    ...graphParts(host, results, follow),
  ];
  byId('host').replaceChildren(...parts.filter(part => part !== undefined));
  for (const row of document.querySelectorAll('.row'))
    row.classList.toggle('selected', row.getAttribute('data-host') === id);
  if (state !== undefined) follow(state);
};

const timeOf = ({ phases, end }: ReportHost): string => {
  const begin = phases.find(([phase]) => phase !== 'queued')?.[1];
  return begin === undefined ? '' : duration(end - begin);
};

const alike = (host: ReportHost): HTMLElement | undefined => {
  const key = keyOf(host);
  const others = hosts.filter(one => one !== host && keyOf(one) === key);
  if (others.length === 0) return undefined;
  const names = others.map(({ id }) => id).join(', ');
  return make(
    'details',
    { class: 'alike' },
    make('summary', {}, `${others.length} more ${others.length === 1 ? 'host' : 'hosts'} alike`),
    make('p', {}, names),
  );
};

const resultParts = (
  results: readonly PageResult[],
  rows: Map<number, HTMLDetailsElement>,
): HTMLElement[] => {
  const isMixed = results.some(({ outcome }) => outcome > 0);
  const list = make('div', { class: 'results' });
  for (const result of results) {
    const row = resultRow(result);
    row.hidden = isMixed && result.outcome === 0;
    row.open = result.outcome === 3 || results.length === 1;
    rows.set(result.stateAt, row);
    list.append(row);
  }
  const clean = results.filter(({ outcome }) => outcome === 0).length;
  const head = make('h3', {}, 'Results');
  if (!isMixed || clean === 0) return [head, list];
  const box = make('input', { type: 'checkbox', id: 'show-clean' });
  box.addEventListener('change', () => {
    for (const result of results) {
      const row = rows.get(result.stateAt);
      if (row && result.outcome === 0) row.hidden = !box.checked;
    }
  });
  return [head, make('label', {}, box, ` Show ${clean} unchanged`), list];
};

/** One result, to be unfolded. */
export const resultRow = (
  {
    state: [id, fun, name, sls],
    outcome,
    comment,
    changes,
    start,
    duration: took,
  }: Omit<PageResult, 'stateAt'>,
  note = '',
): HTMLDetailsElement => {
  const mark = make('span', { class: 'mark', 'aria-hidden': 'true' }, outcomeMarks[outcome] ?? '');
  const summary = make(
    'summary',
    {},
    mark,
    make('span', { class: 'hidden' }, `${outcomeNames[outcome]}: `),
    make('strong', {}, id === '' ? fun : id),
    ...(id === '' ? [] : [' ', make('code', {}, fun)]),
    note === '' ? undefined : make('span', { class: 'badge' }, note),
    ...sizeOf(changes),
    start > 0 ? make('span', { class: 'when' }, duration(took)) : undefined,
  );
  return make(
    'details',
    { class: `result ${outcomeClasses[outcome]}` },
    summary,
    name === '' || name === id ? undefined : make('p', {}, `Name: ${name}`),
    sls === '' ? undefined : make('p', {}, `SLS: ${sls}`),
    comment === '' ? undefined : make('pre', { class: 'comment' }, comment),
    ...changes.flatMap(([label, text, isDiff]) => [
      label === '' ? undefined : make('p', {}, label),
      isDiff === 1 ? diffOf(text) : make('pre', { class: 'changes' }, text),
    ]),
  );
};

/** The lines that the diffs of a result add and remove. */
const sizeOf = (changes: PageResult['changes']): HTMLElement[] => {
  const lines = changes.flatMap(([, text, isDiff]) => (isDiff === 1 ? text.split('\n') : []));
  const added = lines.filter(line => /^\+(?!\+\+ )/.test(line)).length;
  const removed = lines.filter(line => /^-(?!-- )/.test(line)).length;
  if (added + removed === 0) return [];
  return [
    make(
      'span',
      { class: 'size' },
      make('ins', {}, `+${added}`),
      ' ',
      make('del', {}, `−${removed}`),
    ),
  ];
};

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

const diffOf = (text: string): HTMLElement => {
  const pre = make('pre', { class: 'diff' });
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const kind = /^(?:\+\+\+|---) /.test(line) ? 'place' : kinds[line[0] ?? ''];
    const name = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span';
    pre.append(make(name, { class: kind }, `${line}\n`));
  }
  return pre;
};

const graphParts = (
  { graph }: ReportHost,
  results: readonly PageResult[],
  follow: (state: number) => void,
): HTMLElement[] => {
  if (graph === undefined) return [];
  const head = make('h3', {}, 'Requisites');
  if (typeof graph === 'string') return [head, make('p', {}, graph)];
  const placed = data.graphs[graph];
  if (placed === undefined) return [];
  const note =
    placed.alone > 0
      ? make('p', {}, `${placed.alone} states without requisites are not shown.`)
      : undefined;
  return [head, graphOf(placed, results, follow), ...(note ? [note] : [])];
};
