import type { HostResult, RequisiteGraph } from '../../protocol/event.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { StateResult } from '../../protocol/result.ts';
import { jsonText } from '../format/json.ts';
import { stateOutcome } from '../highstate.ts';
import { resultData, stateResults } from '../result.ts';
import { harmless, showValue } from '../text.ts';
import { idPlaceholder, type ReportBody, type ReportChange, type ReportState } from './model.ts';

/** Bytes of texts in the page, and how many of them results without a change may take. */
const mostBytes = 6_000_000;
const mostCleanBytes = 3_000_000;

/** Bytes of the lists of all hosts. */
const mostListed = 2_000_000;

/** Characters of one comment, and of one change. */
const longestText = 100_000;

const words = ['Clean', 'Changed', 'Differs', 'Failed'];

/** The results of a host, as places in the tables of the whole page. */
export type FoldedResults = {
  readonly shape: number;
  readonly bodies: readonly number[];
  readonly durations: readonly number[];
  readonly note?: string;
};

/** A table of equal values, kept as JSON once each. */
class Table {
  readonly #places = new Map<string, number>();

  place(json: string): number {
    const known = this.#places.get(json);
    if (known !== undefined) return known;
    this.#places.set(json, this.#places.size);
    return this.#places.size - 1;
  }

  has(json: string): boolean {
    return this.#places.has(json);
  }

  json(): string {
    return `[${[...this.#places.keys()].join(',')}]`;
  }
}

/**
 * Stores the results of all hosts compactly: equal results, and equal lists of states, are stored
 * once. If the page would become too large, it contains outcomes without texts.
 */
export class ResultFold {
  readonly #states = new Table();
  readonly #bodies = new Table();
  readonly #shapes = new Table();
  readonly #graphs = new Map<string, { readonly graph: RequisiteGraph; readonly place: number }>();
  #bytes = 0;
  #listed = 0;
  #cut = 0;

  /** Results whose texts were left out. */
  get cut(): number {
    return this.#cut;
  }

  add(result: HostResult): FoldedResults {
    const entries = Object.entries(stateResults(result) ?? {});
    if (entries.length === 0) return this.#addValue(result);
    this.#listed += entries.length * 16;
    if (this.#listed > mostListed)
      return {
        shape: this.#shapes.place('[]'),
        bodies: [],
        durations: [],
        note: `The ${entries.length} results of this host are left out: the report would be too large.`,
      };
    const states = entries.map(([tag, state]) => this.#stateOf(tag, showValue(state.__sls__)));
    return {
      shape: this.#shapes.place(JSON.stringify(states)),
      bodies: entries.map(([, state]) => this.#body(bodyOf(state, result.id))),
      durations: entries.map(([, { duration }]) => Math.round(Number(duration) || 0)),
    };
  }

  /** Returns the place of a plan's graph; equal ones have the same. */
  addGraph(graph: RequisiteGraph): number {
    const key = JSON.stringify(graph);
    const known = this.#graphs.get(key);
    if (known) return known.place;
    this.#graphs.set(key, { graph, place: this.#graphs.size });
    return this.#graphs.size - 1;
  }

  graphs(): readonly RequisiteGraph[] {
    return [...this.#graphs.values()].map(({ graph }) => graph);
  }

  /** Returns the place of the state with this tag. */
  stateOf(tag: string): number {
    const known = this.#byTag.get(tag);
    return known ?? this.#stateOf(tag, '');
  }

  /** The tables as JSON. */
  tables(): { readonly states: string; readonly bodies: string; readonly shapes: string } {
    return {
      states: this.#states.json(),
      bodies: this.#bodies.json(),
      shapes: this.#shapes.json(),
    };
  }

  readonly #byTag = new Map<string, number>();

  #stateOf(tag: string, sls: string): number {
    const [module = '', id = '', name = '', fun = ''] = tag
      .split('_|-')
      .map(part => cut(part, 500));
    const state: ReportState = [id, `${module}.${fun}`, name, cut(sls, 500)];
    const place = this.#states.place(pageJson(state));
    this.#byTag.set(tag, place);
    return place;
  }

  #addValue(result: HostResult): FoldedResults {
    if (result.failure !== undefined)
      return { shape: this.#shapes.place('[]'), bodies: [], durations: [] };
    const data = resultData(result);
    const text = withoutId(cut(typeof data === 'string' ? data : jsonText(data, 2)), result.id);
    const state: ReportState = [result.fun, '', '', ''];
    const shape = this.#shapes.place(JSON.stringify([this.#states.place(pageJson(state))]));
    const body: ReportBody = [result.retcode === 0 ? 0 : 3, text, []];
    return { shape, bodies: [this.#body(body)], durations: [0] };
  }

  #body(body: ReportBody): number {
    const limit = body[0] === 0 ? mostCleanBytes : mostBytes;
    // Once texts are left out, the cost per text must not grow with its length.
    if (this.#cut > 0 && this.#bytes + textSize(body) > limit) return this.#short(body[0]);
    const json = pageJson(body);
    if (this.#bodies.has(json)) return this.#bodies.place(json);
    const bytes = Buffer.byteLength(json);
    if (this.#bytes + bytes <= limit) {
      this.#bytes += bytes;
      return this.#bodies.place(json);
    }
    return this.#short(body[0]);
  }

  #short(outcome: number): number {
    this.#cut += 1;
    const short: ReportBody = [outcome, 'The text is left out: the report would be too large.', []];
    return this.#bodies.place(pageJson(short));
  }
}

const textSize = ([, comment, changes]: ReportBody): number =>
  changes.reduce((sum, [, text]) => sum + text.length, comment.length);

/**
 * Returns a result as the page has it.
 *
 * @param id the host's id, which is replaced in texts; empty to leave them
 */
export const bodyOf = (
  state: Pick<StateResult, 'result' | 'comment' | 'changes'> & { readonly warnings?: Plain },
  id: string,
): ReportBody => {
  const warnings = Array.isArray(state.warnings) ? state.warnings.map(showValue) : [];
  const comment = [showValue(state.comment).trim(), ...warnings.map(text => `Warning: ${text}`)];
  const changes: ReportChange[] = [];
  addChanges(changes, '', withoutPid(state.changes));
  return [
    Math.max(0, words.indexOf(stateOutcome(state))),
    withoutId(cut(comment.join('\n')), id),
    changes.map(([label, text, isDiff]) => [
      withoutId(cut(label, 500), id),
      withoutId(cut(text), id),
      isDiff,
    ]),
  ];
};

/** Removes the process id of a command, which differs on every host. */
const withoutPid = (changes: Plain): Plain => {
  if (!isPlainDict(changes) || !('pid' in changes && 'retcode' in changes)) return changes;
  const { pid: _, ...rest } = changes;
  return rest;
};

/** Lists diffs one by one, however the state nests them, and the rest as JSON. */
const addChanges = (list: ReportChange[], label: string, changes: Plain, depth = 0): void => {
  if (!isPlainDict(changes)) {
    if (changes !== null && changes !== undefined)
      list.push([label, typeof changes === 'string' ? changes : jsonText(changes, 2), 0]);
    return;
  }
  const rest: [string, Plain][] = [];
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (key === 'diff' && typeof value === 'string') list.push([label, value, 1]);
    else if (depth < 3 && isPlainDict(value) && hasDiff(value))
      addChanges(list, [label, key].filter(part => part !== '').join(' '), value, depth + 1);
    else rest.push([key, value]);
  }
  if (rest.length > 0) list.push([label, jsonText(Object.fromEntries(rest), 2), 0]);
};

const hasDiff = (value: Plain): boolean =>
  isPlainDict(value) &&
  (typeof value.diff === 'string' ||
    Object.values(value).some(
      item => isPlainDict(item as Plain) && typeof (item as { diff?: Plain }).diff === 'string',
    ));

const cut = (text: string, longest = longestText): string => {
  const shown = harmless(text.length > longest * 2 ? text.slice(0, longest * 2) : text);
  return shown.length > longest ? `${shown.slice(0, longest)}\n… [cut]` : shown;
};

/** Replaces the host's own id, so that texts that differ only in it become equal. */
const withoutId = (text: string, id: string): string =>
  id.length < 3 ? text : text.replaceAll(id, idPlaceholder);

/** Returns JSON that cannot end the script element around it. */
export const pageJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
