import type { HostResult } from '../../protocol/event.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { Format } from '../format.ts';
import { stateOutcome } from '../highstate.ts';
import { resultData, stateResults } from '../result.ts';
import { harmless, showValue } from '../text.ts';
import { jsonText } from './json.ts';

/** A summary for a CI page: a row per host, then what changed and what failed. */
export const markdownFormat: Format = {
  whole: true,
  format: results => {
    const rows = results.map(result => {
      const { clean, changed, differs, failed } = counts(result);
      const verdict = result.failure ? result.failure.code : result.retcode === 0 ? 'ok' : 'failed';
      return `| ${cell(result.id)} | ${cell(verdict)} | ${clean} | ${changed} | ${differs} | ${failed} |`;
    });
    return [
      '# tsalt-ssh',
      '',
      '| Host | Outcome | Clean | Changed | Would change | Failed |',
      '| --- | --- | ---: | ---: | ---: | ---: |',
      ...rows,
      ...results.flatMap(details),
    ].join('\n');
  },
};

const counts = (result: HostResult) => {
  const outcomes = Object.values(stateResults(result) ?? {}).map(stateOutcome);
  const count = (name: string): number => outcomes.filter(outcome => outcome === name).length;
  return {
    clean: count('Clean'),
    changed: count('Changed'),
    differs: count('Differs'),
    failed: count('Failed'),
  };
};

const details = (result: HostResult): string[] => {
  const states = Object.entries(stateResults(result) ?? {});
  const notable = states.filter(([, state]) => stateOutcome(state) !== 'Clean');
  const data = resultData(result);
  const value = typeof data === 'string' ? data : jsonText(data, 2);
  const blocks = [
    ...notable.flatMap(([tag, state]) => stateBlock(tag, state)),
    ...(result.failure ? fence(result.failure.message) : []),
    ...(states.length === 0 && !result.failure ? fence(value) : []),
  ];
  return blocks.length === 0 ? [] : ['', `## ${inline(result.id)}`, ...blocks];
};

const stateBlock = (tag: string, state: StateResult): string[] => {
  const [module, , , fun] = tag.split('_|-');
  const head = `**${stateOutcome(state)}** ${inline(`${module}.${fun} ${showValue(state.name)}`)}`;
  const { diff } = state.changes;
  const changes = typeof diff === 'string' ? diff : jsonText(state.changes, 2);
  return [
    '',
    head,
    ...fence(showValue(state.comment)),
    ...(Object.keys(state.changes).length > 0
      ? fence(changes, typeof diff === 'string' ? 'diff' : 'json')
      : []),
  ];
};

/** A code block whose fence is longer than any run of backticks inside. */
const fence = (value: string, language = ''): string[] => {
  const text = harmless(value);
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const mark = '`'.repeat(longest + 1);
  return ['', `${mark}${language}`, text, mark];
};

const inline = (value: string): string =>
  harmless(value)
    .replaceAll('\n', ' ')
    .replace(/[\\`*_{}[\]<>#|]/g, character => `\\${character}`);

const cell = (value: string): string => inline(value);
