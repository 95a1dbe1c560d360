import type { Phase, RunEvent } from '../protocol/event.ts';
import { stateOutcome } from './highstate.ts';
import { harmless } from './text.ts';

/** One line of progress, with a second line of detail; over when it has an outcome. */
export type Row = {
  readonly title: string;
  readonly detail: string;
  readonly outcome?: 'done' | 'failed';
};

export type Progress = {
  readonly follow: (event: RunEvent) => void;
  /** A row per host; if they do not fit, a row for all, then failing hosts and the slowest. */
  readonly rows: () => (() => Row)[];
  /** The terminal has this many lines for progress. */
  readonly resize: (lines: number) => void;
};

type HostState = {
  phase: Phase;
  detail: string;
  total: number;
  done: number;
  changed: number;
  failed: number;
  current: string;
  /** When it began; the last line that it printed, and when. */
  currentAt: number;
  line: string;
  lineAt: number;
  /** When the host was begun; 0 while it waits. */
  began: number;
  outcome?: 'done' | 'failed';
};

/** Follows a run, for a terminal that has this many lines for progress. */
export const createProgress = (lines: number): Progress => {
  const hosts = new Map<string, HostState>();
  let most = lines;
  return {
    follow: event => follow(hosts, event),
    resize: now => {
      most = now;
    },
    rows: () =>
      hosts.size * 2 > most && hosts.size > 1
        ? crowdRows(hosts, most)
        : [...hosts].map(
            ([id, state]) =>
              () =>
                hostRow(id, state),
          ),
  };
};

const follow = (hosts: Map<string, HostState>, event: RunEvent): void => {
  if (event.type === 'start') for (const id of event.hosts) hosts.set(id, newHost());
  if (event.type === 'host') {
    const host = hosts.get(event.result.id);
    const { failure, retcode } = event.result;
    if (host) host.outcome = failure !== undefined || retcode !== 0 ? 'failed' : 'done';
  }
  if (event.type === 'step') followStep(hosts, event.event);
  const host = 'host' in event && event.host !== undefined ? hosts.get(event.host) : undefined;
  if (host === undefined) return;
  if (event.type === 'phase') {
    host.phase = event.phase;
    if (event.phase !== 'queued' && host.began === 0) host.began = performance.now();
    host.detail = start(event.detail ?? '');
  }
  if (event.type === 'plan') host.total = event.total;
  if (event.type === 'state-start') {
    host.current = `${start(event.fun)} ${start(event.name)}`;
    host.currentAt = performance.now();
    host.line = '';
  }
  if (event.type === 'output') {
    host.line = lastOf(event.text) ?? host.line;
    host.lineAt = performance.now();
  }
  if (event.type === 'state') {
    const outcome = stateOutcome(event.result);
    host.done += 1;
    if (outcome === 'Failed') host.failed += 1;
    if (outcome === 'Changed' || outcome === 'Differs') host.changed += 1;
  }
};

/** Shows the hosts of a step in one line of the orchestration, without rows of their own. */
const followStep = (hosts: Map<string, HostState>, event: RunEvent): void => {
  const [own] = hosts.values();
  if (!own) return;
  const said =
    event.type === 'state-start'
      ? `${event.host}: ${start(event.fun)} ${start(event.name)}`
      : event.type === 'phase'
        ? `${event.host}: ${words[event.phase] ?? event.phase}`
        : undefined;
  if (said === undefined) return;
  own.line = said;
  own.lineAt = performance.now();
};

const newHost = (): HostState => ({
  phase: 'queued',
  detail: '',
  total: 0,
  done: 0,
  changed: 0,
  failed: 0,
  current: '',
  currentAt: 0,
  line: '',
  lineAt: 0,
  began: 0,
});

const words: Readonly<Record<Phase, string>> = {
  queued: 'waiting',
  connect: 'connecting',
  auth: 'logging in',
  'pre-flight': 'pre-flight script',
  bootstrap: 'looking for Node',
  'upload-node': 'sending Node',
  upload: 'sending the bundle',
  hello: 'starting',
  render: 'rendering',
  run: 'running',
  done: 'done',
};

const titleOf = (id: string, { total, done, changed, failed }: HostState): string => {
  const counts = [
    ...(total > 0 ? [`${done}/${total}`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return [harmless(id), ...(counts.length > 0 ? [counts.join(', ')] : [])].join('  ');
};

const detailOf = ({ phase, current, detail, ...state }: HostState): string =>
  phase === 'run' && current !== ''
    ? stateDetail({ current, ...state })
    : oneLine([words[phase] ?? phase, detail].join(' '));

/** Seconds after which the time of a state, and its silence, are shown. */
const clockAfter = 2;
const silentAfter = 10;

const stateDetail = ({
  current,
  currentAt,
  line,
  lineAt,
}: Pick<HostState, 'current' | 'currentAt' | 'line' | 'lineAt'>): string => {
  const since = (at: number): number => Math.floor((performance.now() - at) / 1000);
  const [time, silence] = [since(currentAt), since(line === '' ? currentAt : lineAt)];
  const what = oneLine(current);
  const name = line === '' ? what : what.slice(0, 30);
  return [
    name,
    ...(time >= clockAfter ? [`${time} s`] : []),
    ...(silence >= silentAfter ? [`silent for ${silence} s`] : []),
    ...(line === '' ? [] : [`| ${line}`]),
  ].join('  ');
};

const lastOf = (text: string): string | undefined => {
  const line = text
    .slice(-2000)
    .split(/[\r\n]/)
    .findLast(part => part.trim() !== '');
  return line === undefined ? undefined : oneLine(line);
};

const hostRow = (id: string, state: HostState): Row => ({
  title: titleOf(id, state),
  detail: state.outcome === undefined ? detailOf(state) : '',
  ...(state.outcome === undefined ? {} : { outcome: state.outcome }),
});

/** Hosts that are listed below the counts of all. */
const mostListed = 12;

/** Returns the counts of all hosts, and rows for the hosts that need attention. */
const crowdRows = (hosts: ReadonlyMap<string, HostState>, lines: number): (() => Row)[] => {
  let listed: [string, HostState][] = [];
  const all = (): Row => {
    const row = crowdRow(hosts);
    listed = row.outcome === undefined ? notable(hosts) : [];
    return row;
  };
  const slots = Math.max(0, Math.min(mostListed, lines - 2, hosts.size));
  const slot = (at: number) => (): Row => {
    const [id, state] = listed[at] ?? [];
    if (id === undefined || state === undefined)
      return { title: ' ', detail: '', ...(isOver(hosts) ? { outcome: 'done' } : {}) };
    const time = `${Math.round((performance.now() - state.began) / 1000)} s`;
    const what = state.outcome === undefined ? detailOf(state) : state.outcome;
    return { title: [titleOf(id, state), time, what].join('  '), detail: '' };
  };
  return [all, ...Array.from({ length: slots }, (_, at) => slot(at))];
};

const isOver = (hosts: ReadonlyMap<string, HostState>): boolean =>
  [...hosts.values()].every(({ outcome }) => outcome !== undefined);

/** Running hosts: those with failed states first, then the slowest. */
const notable = (hosts: ReadonlyMap<string, HostState>): [string, HostState][] =>
  [...hosts]
    .filter(([, { outcome, began }]) => outcome === undefined && began > 0)
    .sort(([, a], [, b]) => b.failed - a.failed || a.began - b.began)
    .slice(0, mostListed);

const barWidth = 20;

const bar = (part: number): string => {
  const full = Math.round(part * barWidth);
  return `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
};

const crowdRow = (hosts: ReadonlyMap<string, HostState>): Row => {
  const states = [...hosts.values()];
  const count = (test: (state: HostState) => boolean): number => states.filter(test).length;
  const done = count(({ outcome }) => outcome === 'done');
  const failed = count(({ outcome }) => outcome === 'failed');
  const waiting = count(({ outcome, phase }) => outcome === undefined && phase === 'queued');
  const over = done + failed === hosts.size;
  return {
    title: `${bar((done + failed) / hosts.size)} ${hosts.size} hosts: ${done} done, ${failed} failed, ${hosts.size - done - failed - waiting} running, ${waiting} waiting`,
    detail: '',
    ...(over ? { outcome: failed > 0 ? 'failed' : 'done' } : {}),
  };
};

/** Cuts a text to fit a row: a host may send megabytes, and rows are drawn ten times a second. */
const start = (text: unknown): string => String(text).slice(0, 500);

const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim().slice(0, 120);
