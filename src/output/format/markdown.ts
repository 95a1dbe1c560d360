import type { HostResult } from '../../protocol/event.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { Format } from '../format.ts';
import { stateOutcome } from '../highstate.ts';
import { codeFence, inlineMarkdown } from '../markdown-text.ts';
import { resultData, stateResults } from '../result.ts';
import { showValue } from '../text.ts';
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
    ...(result.failure ? codeFence(result.failure.message) : []),
    ...(states.length === 0 && !result.failure ? codeFence(value) : []),
  ];
  return blocks.length === 0 ? [] : ['', `## ${inlineMarkdown(result.id)}`, ...blocks];
};

const stateBlock = (tag: string, state: StateResult): string[] => {
  const [module, , , fun] = tag.split('_|-');
  const head = `**${stateOutcome(state)}** ${inlineMarkdown(`${module}.${fun} ${showValue(state.name)}`)}`;
  const { diff } = state.changes;
  const changes = typeof diff === 'string' ? diff : jsonText(state.changes, 2);
  return [
    '',
    head,
    ...codeFence(showValue(state.comment)),
    ...(Object.keys(state.changes).length > 0
      ? codeFence(changes, typeof diff === 'string' ? 'diff' : 'json')
      : []),
  ];
};

const cell = (value: string): string => inlineMarkdown(value);
