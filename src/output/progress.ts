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
  /** A row per host, or one row for all when they are more than fit. */
  readonly rows: () => (() => Row)[];
};

type HostState = {
  phase: Phase;
  detail: string;
  total: number;
  done: number;
  changed: number;
  failed: number;
  current: string;
  outcome?: 'done' | 'failed';
};

/** Follows a run; `mostRows` hosts are listed, more are counted. */
export const createProgress = (mostRows: number): Progress => {
  const hosts = new Map<string, HostState>();
  return {
    follow: event => follow(hosts, event),
    rows: () =>
      hosts.size > mostRows
        ? [() => crowdRow(hosts)]
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
  const host = 'host' in event && event.host !== undefined ? hosts.get(event.host) : undefined;
  if (host === undefined) return;
  if (event.type === 'phase') {
    host.phase = event.phase;
    host.detail = start(event.detail ?? '');
  }
  if (event.type === 'plan') host.total = event.total;
  if (event.type === 'state-start') host.current = `${start(event.fun)} ${start(event.name)}`;
  if (event.type === 'state') {
    const outcome = stateOutcome(event.result);
    host.done += 1;
    if (outcome === 'Failed') host.failed += 1;
    if (outcome === 'Changed' || outcome === 'Differs') host.changed += 1;
  }
};

const newHost = (): HostState => ({
  phase: 'queued',
  detail: '',
  total: 0,
  done: 0,
  changed: 0,
  failed: 0,
  current: '',
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

const hostRow = (id: string, state: HostState): Row => {
  const { total, done, changed, failed, outcome } = state;
  const counts = [
    ...(total > 0 ? [`${done}/${total}`] : []),
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  const title = [harmless(id), ...(counts.length > 0 ? [counts.join(', ')] : [])].join('  ');
  const running = state.phase === 'run' && state.current !== '';
  const what = running
    ? state.current
    : [words[state.phase] ?? state.phase, state.detail].join(' ');
  return {
    title,
    detail: outcome === undefined ? oneLine(what) : '',
    ...(outcome === undefined ? {} : { outcome }),
  };
};

const crowdRow = (hosts: ReadonlyMap<string, HostState>): Row => {
  const states = [...hosts.values()];
  const count = (test: (state: HostState) => boolean): number => states.filter(test).length;
  const done = count(({ outcome }) => outcome === 'done');
  const failed = count(({ outcome }) => outcome === 'failed');
  const waiting = count(({ outcome, phase }) => outcome === undefined && phase === 'queued');
  const over = done + failed === hosts.size;
  return {
    title: `${hosts.size} hosts: ${done} done, ${failed} failed, ${hosts.size - done - failed - waiting} running, ${waiting} waiting`,
    detail: '',
    ...(over ? { outcome: failed > 0 ? 'failed' : 'done' } : {}),
  };
};

/** The beginning that fits a row: a host may send megabytes, and rows are drawn ten times a second. */
const start = (text: unknown): string => String(text).slice(0, 500);

const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim().slice(0, 120);
