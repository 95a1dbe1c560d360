import { createHash } from 'node:crypto';
import type { HostResult, RequisiteGraph, RunEvent } from '../../protocol/event.ts';
import { hostOutcome } from '../host-outcome.ts';
import { errorText } from '../message.ts';
import type { Output, OutputRequest } from '../request.ts';
import { harmless } from '../text.ts';
import { aboutPage } from './about.ts';
import { type FoldedResults, pageJson, ResultFold } from './fold.ts';
import type { ReportGraph, ReportHost } from './model.ts';
import { pageSource } from './page-source.ts';

/** Stages of a host, and states, whose times are kept. */
const mostPhases = 60;
const mostStarts = 5000;

/** Graphs that are placed, and the milliseconds that all of them may take. */
const mostGraphs = 20;
const mostPlacing = 8000;

/** One page for the whole run, written at its end. */
export const htmlOutput = (request: OutputRequest): Output => new HtmlReport(request);

type HostTimes = {
  readonly phases: (readonly [phase: string, at: number])[];
  readonly starts: Map<string, number>;
  graph?: number;
};

type KeptHost = Omit<ReportHost, 'states' | 'graph'> & FoldedResults & { readonly graph?: number };

class HtmlReport implements Output {
  readonly #request: OutputRequest;
  readonly #fold = new ResultFold();
  readonly #times = new Map<string, HostTimes>();
  readonly #hosts = new Map<string, KeptHost>();
  readonly #began = performance.now();
  readonly #date = new Date();
  #fun = '';

  constructor(request: OutputRequest) {
    this.#request = request;
  }

  emit = (event: RunEvent): void => {
    if (event.type === 'start') {
      this.#fun = event.fun;
      for (const id of event.hosts) this.#times.set(id, { phases: [], starts: new Map() });
    } else if (event.type === 'host') this.#host(event.result);
    else if (event.type === 'phase') {
      const { phases } = this.#timesOf(event.host);
      if (phases.length < mostPhases && phases.at(-1)?.[0] !== event.phase)
        phases.push([event.phase, this.#now()]);
    } else if (event.type === 'plan' && event.requisites !== undefined)
      this.#timesOf(event.host).graph = this.#fold.addGraph(event.requisites());
    else if (event.type === 'state-start') {
      const { starts } = this.#timesOf(event.host);
      if (starts.size < mostStarts) starts.set(event.tag, this.#now());
    }
  };

  pause = (): Promise<() => void> => Promise.resolve(() => undefined);

  finish = (): Promise<void> => this.#write();

  fail = (error: unknown): Promise<void> => this.#write(errorText(error));

  #now(): number {
    return Math.round(performance.now() - this.#began);
  }

  #timesOf(host: string): HostTimes {
    const known = this.#times.get(host);
    if (known) return known;
    const times: HostTimes = { phases: [], starts: new Map() };
    this.#times.set(host, times);
    return times;
  }

  #host(given: HostResult): void {
    const result = inRunOrder(given);
    const { phases, starts, graph } = this.#timesOf(result.id);
    const end = this.#now();
    this.#hosts.set(result.id, {
      id: harmless(result.id).slice(0, 500),
      outcome: hostOutcome(result),
      ...(result.failure === undefined
        ? {}
        : { failure: harmless(result.failure.message).slice(0, 20_000) }),
      ...this.#fold.add(result),
      starts: startsOf(result, starts, phases.find(([phase]) => phase === 'run')?.[1] ?? end),
      phases,
      end,
      ...(graph === undefined ? {} : { graph }),
    });
    starts.clear();
  }

  async #write(error?: string): Promise<void> {
    const { write } = this.#request;
    for (const [id, { phases }] of this.#times)
      if (!this.#hosts.has(id)) this.#hosts.set(id, skipped(id, phases, this.#now()));
    const graphs = await this.#placed();
    const { states, bodies, shapes } = this.#fold.tables();
    const failed = [...this.#hosts.values()].filter(({ outcome }) => isAgain.includes(outcome));
    const about = this.#request.about?.();
    const commands = about ? undefined : this.#request.commands;
    const head = {
      title: harmless(about?.title ?? `tsalt-ssh ${this.#fun}`.trim()),
      ...(about ? { about: aboutPage(about) } : {}),
      started: this.#date.toLocaleString('sv-SE'),
      milliseconds: this.#now(),
      ...(error === undefined ? {} : { error: harmless(error) }),
      ...(commands === undefined ? {} : { command: commands.whole }),
      ...(commands === undefined || failed.length === 0 || failed.length === this.#hosts.size
        ? {}
        : { rerun: commands.only(failed.map(({ id }) => id)) }),
      notes: this.#fold.cut === 0 ? [] : [cutNote(this.#fold.cut)],
      graphs: graphs.filter(graph => typeof graph !== 'string'),
    };
    const places = placesOf(graphs);
    write(openPage());
    write(
      `${pageJson(head).slice(0, -1)},"states":${states},"bodies":${bodies},"shapes":${shapes}`,
    );
    let before = ',"hosts":[';
    for (const { graph, ...host } of this.#hosts.values()) {
      const shown = graph === undefined ? {} : { graph: places[graph] };
      write(`${before}${pageJson({ ...host, ...shown })}`);
      before = ',';
    }
    write(`${before === ',' ? '' : before}]}${closePage()}`);
  }

  async #placed(): Promise<(ReportGraph | string)[]> {
    const list = this.#fold.graphs();
    if (list.length === 0) return [];
    const { layOutGraph: placeGraph } = await import('./graph.ts');
    const until = performance.now() + mostPlacing;
    return list.map((graph: RequisiteGraph, at) =>
      at < mostGraphs && performance.now() < until
        ? placeGraph(graph, idOf, tag => this.#fold.stateOf(tag))
        : `The requisites of ${mostGraphs} other runs are drawn; of this one they are not.`,
    );
  }
}

const isAgain: readonly string[] = ['unreachable', 'failed', 'skipped'];

const cutNote = (count: number): string =>
  `The texts of ${count} results are left out: the report would be too large. --report json=FILE has them.`;

const idOf = (tag: string): string => tag.split('_|-')[1] ?? tag;

/** Returns the index of each graph among the drawn ones, or why it is not drawn. */
const placesOf = (graphs: readonly (ReportGraph | string)[]): (number | string)[] => {
  let drawn = 0;
  return graphs.map(graph => {
    if (typeof graph === 'string') return graph;
    drawn += 1;
    return drawn - 1;
  });
};

const skipped = (id: string, phases: HostTimes['phases'], end: number): KeptHost => ({
  id: harmless(id).slice(0, 500),
  outcome: 'skipped',
  failure: 'The run ended before this host had its turn, or before it had a result.',
  shape: 0,
  bodies: [],
  durations: [],
  starts: [],
  phases,
  end,
});

const day = 86_400_000;

/**
 * Sorts states by run number: parallel ones end in any order, and equal hosts must have the same
 * order.
 */
const inRunOrder = (result: HostResult): HostResult => {
  if (!result.states) return result;
  const entries = Object.entries(result.states);
  entries.sort(([, a], [, b]) => a.__run_num__ - b.__run_num__);
  return { ...result, states: Object.fromEntries(entries) };
};

/**
 * Returns when each state began. Hosts report times of their own clocks: only the differences are
 * exact. Their position in the run follows from the message that arrived soonest after its state
 * began.
 */
const startsOf = (
  { states = {} }: HostResult,
  arrived: ReadonlyMap<string, number>,
  fallback: number,
): number[] => {
  const entries = Object.entries(states);
  if (entries.length === 0) return [0];
  const times = entries.map(([, { start_time }]) => dayTime(start_time));
  const first = times.find(time => time !== undefined) ?? 0;
  const since = times.map(time => (time === undefined ? undefined : sinceOf(time, first)));
  const offsets = entries.flatMap(([tag], at) => {
    const [arrival, after] = [arrived.get(tag), since[at]];
    return arrival === undefined || after === undefined ? [] : [arrival - after];
  });
  const begin = offsets.reduce(
    (least, offset) => Math.min(least, offset),
    Number.POSITIVE_INFINITY,
  );
  const base = Number.isFinite(begin) ? begin : fallback;
  return since.map(after => (after === undefined ? 0 : Math.max(1, Math.round(base + after))));
};

/** Handles runs past midnight, in which times restart at 0. */
const sinceOf = (time: number, first: number): number => {
  const since = (time - first + day) % day;
  return since > day / 2 ? since - day : since;
};

const dayTime = (text: unknown): number | undefined => {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(String(text)) ?? [];
  if (seconds === undefined) return undefined;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
};

const hash = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const openPage = (): string => {
  const { script, style } = pageSource();
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tsalt-ssh report</title>
<style>${style}</style>
</head>
<body>
<header><h1 id="title">tsalt-ssh</h1><p id="about"></p><dl id="facts" hidden></dl><div id="notes"></div></header>
<noscript><p>This report needs JavaScript. It loads nothing from the network.</p></noscript>
<main>
<section aria-label="Commands"><dl id="commands"></dl></section>
<section id="changes" aria-label="Changes" hidden></section>
<section aria-label="Hosts and states">
<div id="share" aria-hidden="true"></div>
<div class="tools"><div id="outcomes" role="group" aria-label="Show hosts by outcome" class="tools"></div>
<label>Search <input id="search" type="search"></label>
<label><input id="folded" type="checkbox"> Fold hosts alike</label>
<span id="shown" role="status"></span></div>
<div class="matrix" role="region" aria-label="Matrix of hosts and states" tabindex="0"><div role="table" aria-label="Hosts and states"><div role="rowgroup"><div role="row" class="head" id="matrix-head"></div></div><div role="rowgroup" id="matrix-body"></div></div></div>
</section>
<section id="host" aria-label="Selected host"></section>
</main>
<script type="application/json" id="data">`;
};

const closePage = (): string =>
  `</script>\n<script>${pageSource().script}</script>\n</body>\n</html>\n`;
