import type { ReportHost } from '../model.ts';
import { outcomeClasses, outcomeNames, type PageResult } from './data.ts';
import { duration, make } from './dom.ts';

const words: Readonly<Record<string, string>> = {
  queued: 'waiting',
  connect: 'connect',
  auth: 'log in',
  'pre-flight': 'pre-flight script',
  bootstrap: 'find Node',
  'upload-node': 'upload Node',
  upload: 'upload',
  hello: 'start',
  render: 'render',
  run: 'run',
};

type Bar = {
  readonly text: string;
  readonly start: number;
  readonly length: number;
  readonly kind: string;
};

/** A list with a bar for each stage of the host and each of its states, on one axis of time. */
export const timelineOf = (host: ReportHost, results: readonly PageResult[]): HTMLElement => {
  const stages = host.phases
    .filter(([phase]) => phase !== 'done' && phase !== 'queued')
    .map(([phase, at], place, list): Bar => {
      const end = list[place + 1]?.[1] ?? host.end;
      return { text: words[phase] ?? phase, start: at, length: end - at, kind: 'stage' };
    });
  const states = results
    .filter(({ start }) => start > 0)
    .map(
      ({ state: [id, fun], start, duration: length, outcome }): Bar => ({
        text: `${fun} ${id} – ${outcomeNames[outcome]}`,
        start,
        length,
        kind: outcomeClasses[outcome] ?? 'clean',
      }),
    );
  const bars = [...stages, ...states];
  const begin = Math.min(...bars.map(({ start }) => start), host.end);
  const end = Math.max(...bars.map(({ start, length }) => start + length), host.end, begin + 1);
  const list = make('ol', { class: 'timeline' });
  for (const { text, start, length, kind } of bars) {
    const bar = make('span', { class: `bar ${kind}` });
    bar.style.left = `${((start - begin) / (end - begin)) * 100}%`;
    bar.style.width = `${Math.max(0.3, (length / (end - begin)) * 100)}%`;
    const time = `at ${duration(start - begin)}, ${duration(length)}`;
    list.append(
      make(
        'li',
        { 'data-start': Math.round(start), 'data-length': Math.round(length) },
        make('span', { class: 'what', title: text }, text),
        make('span', { class: 'track', 'aria-hidden': 'true' }, bar),
        make('span', { class: 'when' }, time),
      ),
    );
  }
  return list;
};
