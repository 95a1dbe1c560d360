import type { Plain, PlainDict } from '../protocol/plain.ts';
import { isPlainDict } from '../protocol/plain.ts';
import type { StateResult, StateResults } from '../protocol/result.ts';
import { type Palette, palette } from './color.ts';
import { compressedCount, compressIds } from './compress-ids.ts';
import { nested } from './nested.ts';
import type { OutputOptions } from './options.ts';
import { summary, type Tally } from './summary.ts';
import { harmless, outputLinesOf, shownFloat, showValue } from './text.ts';

/**
 * One host's state run in Salt's highstate layout (spec: salt.output.highstate).
 *
 * @param data results by tag; a list is a run that did not compile; text is a host's failure
 * @param leftOut states that a partial run left out
 */
export const formatHighstate = (
  host: string,
  data: StateResults | Plain,
  options: OutputOptions,
  leftOut = 0,
): string => formatHost(host, data, options, leftOut).text;

type Formatted = { readonly text: string; readonly changed: boolean };

const formatHost = (
  host: string,
  data: StateResults | Plain,
  options: OutputOptions,
  leftOut: number,
): Formatted => {
  const colors = palette(options.color);
  const id = harmless(host);
  const head = (color: string): string => `${color}${id}:${colors.ENDC}`;

  if (Array.isArray(data)) {
    const errors = data.map(
      error => `${colors.LIGHT_RED}----------\n    ${harmless(showValue(error))}${colors.ENDC}`,
    );
    const title = `    ${colors.LIGHT_RED}Data failed to compile:${colors.ENDC}`;
    return { text: [head(colors.LIGHT_RED), title, ...errors].join('\n'), changed: false };
  }
  if (typeof data !== 'object' || data === null) {
    const rows = outputLinesOf(showValue(data)).map(
      line => `${colors.GREEN}    ${harmless(line)}${colors.ENDC}`,
    );
    return { text: [head(colors.CYAN), ...rows].join('\n'), changed: true };
  }

  const { lines, tally, color } = formatStates(host, data as StateResults, { colors, options });
  const text = [head(color), ...lines, ...summary(id, { ...tally, leftOut }, colors, options)].join(
    '\n',
  );
  return { text, changed: tally.changed > 0 };
};

const formatStates = (
  host: string,
  results: StateResults,
  { colors, options }: { readonly colors: Palette; readonly options: OutputOptions },
): { lines: string[]; tally: Tally; color: string } => {
  const shown = options.state_compress_ids ? compressIds(results) : results;
  const entries = Object.entries(shown)
    .filter(([, result]) => isPlainDict(result) && Object.hasOwn(result, 'result'))
    .sort(([, left], [, right]) => (left.__run_num__ ?? 0) - (right.__run_num__ ?? 0));

  const tally: Tally = {
    succeeded: 0,
    unchanged: 0,
    failed: 0,
    warnings: 0,
    changed: 0,
    serial: 0,
    parallel: 0,
  };
  let color: string = colors.GREEN;
  const lines: string[] = [];
  const same = new Map<string, number>();

  for (const [tag, result] of entries) {
    const count = options.state_compress_ids ? compressedCount(tag) : 1;
    const changes = formatChanges(result.changes, options);
    addTo(tally, result, count, changes.changed);
    if (result.result === true && !changes.changed && hidesUnchanged(options)) continue;

    const stateColor = colorOf(result.result, changes.changed, colors);
    if (result.result !== true) color = stateColor;
    const first = options.sameAs?.(host, tag);
    if (first !== undefined) {
      same.set(first, (same.get(first) ?? 0) + 1);
      continue;
    }
    const parts = tagParts(tag, options);
    const layout = layoutOf(result, changes.changed, options);
    if (layout === 'none') continue;
    if (layout === 'terse') {
      lines.push(terse(stateColor, parts, result, colors, options));
      continue;
    }
    lines.push(...full({ color: stateColor, parts, result, colors, options }, changes.text));
    const warned = warnings(result);
    if (warned.length > 0) {
      tally.warnings += 1;
      const text = wrap(warned.join('\n')).trimStart();
      lines.push(`   ${colors.LIGHT_RED} Warnings: ${text}${colors.ENDC}`);
    }
  }
  for (const [first, count] of same)
    lines.push(`    ${count === 1 ? '1 state' : `${count} states`} as on ${harmless(first)}`);
  return { lines, tally, color };
};

const addTo = (tally: Tally, result: StateResult, count: number, changed: boolean): void => {
  if (result.result === true) tally.succeeded += count;
  else if (result.result === null) tally.unchanged += count;
  else tally.failed += count;
  const duration = Number.parseFloat(String(result.duration ?? 0)) || 0;
  if (Object.hasOwn(result, '__parallel__')) tally.parallel = Math.max(tally.parallel, duration);
  else tally.serial += duration;
  if (!changed) return;
  const compressed = result.changes['compressed changes'];
  tally.changed += count > 1 ? (isPlainDict(compressed) && Object.keys(compressed).length) || 1 : 1;
};

const hidesUnchanged = (options: OutputOptions): boolean =>
  options.state_output_diff || !options.state_verbose;

const colorOf = (result: boolean | null, changed: boolean, colors: Palette): string => {
  if (result === false) return colors.RED;
  if (result === null) return colors.LIGHT_YELLOW;
  return changed ? colors.CYAN : colors.GREEN;
};

type Parts = {
  readonly state: string;
  readonly id: string;
  readonly name: string;
  readonly fun: string;
};

const tagParts = (tag: string, { state_output }: OutputOptions): Parts => {
  const comps = tag.split('_|-').map(harmless);
  const [state = '', id = '', name = ''] = comps;
  const byId = state_output.toLowerCase().endsWith('_id');
  return { state, id, name: byId ? id : name, fun: comps[3] ?? comps.at(-1) ?? '' };
};

/** Which layout a state gets in this `state_output` mode. */
const layoutOf = (
  { result }: StateResult,
  changed: boolean,
  options: OutputOptions,
): 'full' | 'terse' | 'none' => {
  const mode = options.state_output.toLowerCase();
  if (mode.startsWith('filter')) {
    if (options.state_output_terse.includes(showValue(result))) return 'terse';
    return options.state_output_exclude.includes(showValue(result)) ? 'none' : 'full';
  }
  const brief =
    mode.startsWith('terse') ||
    (mode.startsWith('mixed') && result !== false) ||
    (mode.startsWith('changes') && result === true && !changed);
  return brief ? 'terse' : 'full';
};

type State = {
  readonly color: string;
  readonly parts: Parts;
  readonly result: StateResult;
  readonly colors: Palette;
  readonly options: OutputOptions;
};

const full = ({ color, parts, result, colors, options }: State, changes: string): string[] => {
  const line = (label: string, text: string): string =>
    `    ${color}${label.padStart(8)}: ${text}${colors.ENDC}`;
  const profile = options.state_output_profile && Object.hasOwn(result, 'start_time');
  return [
    `${color}----------${colors.ENDC}`,
    line('ID', parts.id),
    line('Function', `${parts.state}.${parts.fun}`),
    ...(parts.id === parts.name ? [] : [line('Name', parts.name)]),
    line('Result', showValue(result.result)),
    line('Comment', comment(result)),
    ...(profile
      ? [
          line('Started', harmless(showValue(result.start_time))),
          line('Duration', durationText(result.duration)),
        ]
      : []),
    `${color}     Changes:   ${changes}${colors.ENDC}`,
  ];
};

const durationText = (duration: unknown): string =>
  duration === undefined || duration === '' ? '' : `${shownFloat(duration)} ms`;

const comment = (result: StateResult): string => {
  const margin = `\n${' '.repeat(14)}`;
  const text = harmless(showValue(result.comment)).trim().replaceAll('\n', margin);
  const { data } = result;
  if (data === undefined) return text;
  if (Array.isArray(data)) return data.reduce<string>((all, item) => `${all} ${tame(item)}`, text);
  if (!isPlainDict(data)) return `${text} ${tame(data)}`;
  return Object.entries(data).reduce(
    (all, [key, value]) => `${all}\n\t\t${harmless(key)}: ${tame(value)}`,
    text,
  );
};

const tame = (value: Plain): string => harmless(showValue(value));

const terse = (
  color: string,
  { state, name, fun }: Parts,
  result: StateResult,
  colors: Palette,
  options: OutputOptions,
): string => {
  const outcome = stateOutcome(result);
  const timed = options.state_output_profile && Object.hasOwn(result, 'start_time');
  const started = harmless(showValue(result.start_time));
  const warned = warnings(result).join('\n');
  const { state_tabular } = options;
  if (state_tabular === true) {
    const before = warned === '' ? '' : `${colors.LIGHT_RED}Warnings:\n${warned}${colors.ENDC}\n`;
    const profile = timed ? `${started} [${shownFloat(result.duration).padStart(7)} ms] ` : '';
    const fields = `${state.padStart(10)}.${fun.padEnd(10)} ${outcome.padEnd(7)}   Name: ${name}`;
    return `${before}${color}${profile}${fields}${colors.ENDC}`;
  }
  const before = warned === '' ? '' : `${colors.LIGHT_RED}Warnings:\n${warned}${colors.ENDC}`;
  const profile = timed
    ? ` - Started: ${started} - Duration: ${shownFloat(result.duration)} ms`
    : '';
  const text = `Name: ${name} - Function: ${state}.${fun} - Result: ${outcome}`;
  return `${before} ${color} ${text}${profile}${colors.ENDC}`;
};

/** A state's outcome in one word, as the terse layouts name it. */
export const stateOutcome = ({
  result,
  changes,
}: Pick<StateResult, 'result' | 'changes'>): string => {
  if (result === false) return 'Failed';
  if (result === null) return 'Differs';
  return Object.keys(changes ?? {}).length > 0 ? 'Changed' : 'Clean';
};

const warnings = (result: StateResult): string[] => {
  const { warnings: given } = result;
  return Array.isArray(given) ? given.map(tame) : given === undefined ? [] : [tame(given)];
};

/** Changes as the text behind the label `Changes`, and whether there are any. */
const formatChanges = (changes: Plain | undefined, options: OutputOptions): Formatted => {
  if (!isPlainDict(changes))
    return changes
      ? { text: `Invalid Changes data: ${tame(changes)}`, changed: true }
      : { text: '', changed: false };
  if (Object.keys(changes).length === 0) return { text: '', changed: false };
  const { ret, out } = changes;
  if (out === 'highstate' && isPlainDict(ret)) return nestedRun(ret, options);
  return {
    text: `\n${nested(changes, { colors: palette(options.color), indent: 14 }).trimEnd()}`,
    changed: true,
  };
};

/** A state whose change is another state run: that run's layout, indented. */
const nestedRun = (ret: PlainDict, options: OutputOptions): Formatted => {
  const runs = Object.entries(ret).map(([host, data]) => formatHost(host, data, options, 0));
  const text = runs.map(
    run =>
      `\n${outputLinesOf(run.text)
        .map(line => `${' '.repeat(14)}${line}`)
        .join('\n')}`,
  );
  return { text: text.join(''), changed: runs.some(run => run.changed) };
};

/** Python's `textwrap` at 80 columns with an indent of 14. */
const wrap = (text: string): string => {
  const margin = ' '.repeat(14);
  const rows: string[] = [];
  let row = margin;
  for (const word of text.split(/\s+/).filter(part => part !== '')) {
    const joined = row === margin ? `${margin}${word}` : `${row} ${word}`;
    if (joined.length > 80 && row !== margin) {
      rows.push(row);
      row = `${margin}${word}`;
    } else row = joined;
  }
  return [...rows, row].join('\n');
};
