import type { HostResult, RunEvent } from '../protocol/event.ts';
import type { StateResult } from '../protocol/result.ts';
import { type Palette, palette } from './color.ts';
import { stateOutcome } from './highstate.ts';
import { type HostOutcome, hostOutcome, hostOutcomes } from './host-outcome.ts';
import { stateResults } from './result.ts';
import { hostList, neutralText } from './shared-errors.ts';
import { oneLine, showValue } from './text.ts';

/** Hosts that have a line each; of more, those with equal counts share one. */
const mostSingle = 20;

/** Failed states of a host that are repeated, and the characters of each. */
const mostReasons = 5;
const longestReason = 300;

type Counts = { ok: number; changed: number; failed: number; skipped: number };

type Line = {
  readonly id: string;
  readonly outcome: HostOutcome;
  /** Nothing was changed: the states ran in test mode. */
  readonly isPredicted?: boolean;
  readonly counts: Counts;
  readonly reasons: readonly string[];
  readonly milliseconds: number;
};

/** Counts what became of the hosts of a run. */
export class Recap {
  readonly #begun = new Map<string, number>();
  readonly #lines: Line[] = [];
  readonly #started = performance.now();
  #hasStates = false;

  follow(event: RunEvent): void {
    if (event.type === 'phase' && event.phase !== 'queued' && !this.#begun.has(event.host))
      this.#begun.set(event.host, performance.now());
    if (event.type === 'host') this.#add(event.result);
    if (event.type === 'not-started')
      for (const id of event.hosts)
        this.#lines.push({
          id,
          outcome: 'skipped',
          counts: noCounts(),
          reasons: [`not started: ${oneLine(event.reason)}`],
          milliseconds: 0,
        });
  }

  /** Returns the recap of several hosts, the most severe last; empty for one host. */
  text(color: boolean): string {
    const lines = this.#lines.toSorted(
      (a, b) => severity(b) - severity(a) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
    );
    if (lines.length < 2) return '';
    const colors = palette(color);
    const outcomes = hostOutcomes.toReversed().flatMap(outcome => {
      const words = lines.filter(line => line.outcome === outcome).map(wordOf);
      return [...new Set(words)].map(word => {
        const count = words.filter(one => one === word).length;
        return paint(outcome, `${count} ${word}`, colors);
      });
    });
    const time = seconds(performance.now() - this.#started);
    const head = `Recap: ${lines.length} hosts in ${time}: ${outcomes.join(', ')}`;
    const table = this.#hasStates ? tableOf(lines, colors) : [];
    return ['', head, ...table, ...reasonsOf(lines, colors)].join('\n');
  }

  #add(result: HostResult): void {
    const now = performance.now();
    const states = stateResults(result);
    if (states !== undefined) this.#hasStates = true;
    const counts = noCounts();
    const reasons: string[] = [];
    let isPredicted = true;
    for (const [tag, state] of Object.entries(states ?? {})) {
      const kind = kindOf(state);
      counts[kind] += 1;
      if (kind === 'changed' && state.result !== null) isPredicted = false;
      if (kind === 'failed' && reasons.length < mostReasons) reasons.push(reasonOf(tag, state));
    }
    if (counts.failed > mostReasons) reasons.push(`… and ${counts.failed - mostReasons} more`);
    const outcome = hostOutcome(result);
    this.#lines.push({
      id: result.id,
      outcome,
      ...(isPredicted ? { isPredicted } : {}),
      counts,
      reasons: isBad(outcome) && reasons.length === 0 ? [otherReason(result)] : reasons,
      milliseconds: now - (this.#begun.get(result.id) ?? this.#started),
    });
    this.#begun.delete(result.id);
  }
}

const wordOf = ({ outcome, isPredicted }: Line): string =>
  outcome === 'changed' && isPredicted ? 'would change' : outcome;

const noCounts = (): Counts => ({ ok: 0, changed: 0, failed: 0, skipped: 0 });

const severity = ({ outcome }: Line): number => hostOutcomes.indexOf(outcome);

const isBad = (outcome: HostOutcome): boolean => outcome === 'failed' || outcome === 'unreachable';

const kindOf = (state: StateResult): keyof Counts => {
  const outcome = stateOutcome(state);
  if (outcome === 'Failed') return state.__state_ran__ === false ? 'skipped' : 'failed';
  return outcome === 'Clean' ? 'ok' : 'changed';
};

const reasonOf = (tag: string, state: StateResult): string => {
  const [module = '', id = '', , fun = ''] = tag.split('_|-');
  return short(`${module}.${fun} ${id}: ${showValue(state.comment).trim()}`);
};

const otherReason = ({ failure, value, problems, retcode }: HostResult): string => {
  if (failure !== undefined) return short(failure.message);
  const [problem] = problems ?? [];
  if (problem) return short(problem.sentence ?? problem.message);
  const text = typeof value === 'string' ? value.trim() : '';
  return short(text === '' ? `exit code ${retcode}` : `exit code ${retcode}: ${text}`);
};

const short = (text: string): string => {
  const line = oneLine(text.slice(0, longestReason * 2)).replace(/(\\n|\s)+/g, ' ');
  return line.length > longestReason ? `${line.slice(0, longestReason)} …` : line;
};

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

const paint = (outcome: HostOutcome, text: string, colors: Palette): string => {
  const { RED, LIGHT_YELLOW, CYAN, GREEN } = colors;
  const color = { unreachable: RED, failed: RED, skipped: LIGHT_YELLOW, changed: CYAN, ok: GREEN };
  return `${color[outcome]}${text}${colors.ENDC}`;
};

const widthOfHost = 26;

/** Titles of the counts, as wide as their columns: the table fits 80 columns. */
const titles = ['    ok', '  changed', '  failed', '  skipped'];

const tableOf = (lines: readonly Line[], colors: Palette): string[] => {
  const groups = lines.length > mostSingle ? grouped(lines) : lines.map(line => [line]);
  const rows = groups.map(group => {
    const [first] = group as [Line];
    const time = Math.max(...group.map(({ milliseconds }) => milliseconds));
    const host = group.length === 1 ? oneLine(first.id) : `${group.length} hosts: ${first.id} …`;
    const { ok, changed, failed, skipped } = first.counts;
    const cells = [ok, changed, failed, skipped]
      .map((count, at) => String(count).padStart(titles[at]?.length ?? 0))
      .join('');
    const row = `${fitted(host)}${cells}  ${wordOf(first).padEnd(12)}${seconds(time).padStart(7)}`;
    return paint(first.outcome, row, colors);
  });
  return [
    `${fitted('Host')}${titles.join('')}  ${'result'.padEnd(12)}${'time'.padStart(7)}`,
    ...rows,
  ];
};

const fitted = (text: string): string =>
  text.length > widthOfHost ? `${text.slice(0, widthOfHost - 1)}…` : text.padEnd(widthOfHost);

const grouped = (lines: readonly Line[]): Line[][] => [
  ...groupBy(lines, ({ outcome, isPredicted, counts, id }) =>
    outcome === 'failed' && lines.length < mostSingle * 2
      ? id
      : JSON.stringify([outcome, isPredicted, Object.values(counts)]),
  ).values(),
];

/** Why hosts failed; hosts with the same reasons together. */
const reasonsOf = (lines: readonly Line[], colors: Palette): string[] => {
  const bad = lines.filter(({ reasons }) => reasons.length > 0);
  const groups = [...groupBy(bad, ({ id, reasons }) => neutral(id, reasons)).values()];
  return groups.flatMap(group => {
    const [first] = group as [Line];
    const ids = new Set(group.map(({ id }) => id));
    const title = ids.size === 1 ? oneLine(first.id) : `${ids.size} hosts: ${hostList(ids)}`;
    const word = first.outcome.charAt(0).toUpperCase() + first.outcome.slice(1);
    return [
      paint(first.outcome, `${word}: ${title}`, colors),
      ...first.reasons.map(reason => `    ${reason}`),
    ];
  });
};

/** Reasons that differ in the host's own id and address alone are equal. */
const neutral = (id: string, reasons: readonly string[]): string =>
  id.length < 3 ? reasons.join('\n') : neutralText(id, reasons.join('\n'));

const groupBy = <T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};
