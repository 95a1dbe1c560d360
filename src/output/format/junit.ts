import type { HostResult } from '../../protocol/event.ts';
import type { StateResult } from '../../protocol/result.ts';
import type { Format } from '../format.ts';
import { stateOutcome } from '../highstate.ts';
import type { OutputOptions } from '../options.ts';
import { resultData, stateResults } from '../result.ts';
import { harmless, showValue } from '../text.ts';
import { jsonText } from './json.ts';

/** JUnit XML for CI: a suite per host, a case per state or call. */
export const junitFormat: Format = {
  whole: true,
  format: (results, options) => {
    const suites = results.map(result => suite(result, options));
    const sum = (key: 'tests' | 'failures' | 'errors'): number =>
      suites.reduce((total, one) => total + one[key], 0);
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<testsuites name="tsalt-ssh" tests="${sum('tests')}" failures="${sum('failures')}" errors="${sum('errors')}">`,
      ...suites.map(({ xml }) => xml),
      '</testsuites>',
    ].join('\n');
  },
};

type Suite = {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly xml: string;
};

const suite = (result: HostResult, options: OutputOptions): Suite => {
  const states = Object.entries(stateResults(result) ?? {});
  const cases = states.map(([tag, state]) => stateCase(result.id, tag, state, options));
  if (result.failure !== undefined || states.length === 0) cases.push(callCase(result));
  const failures = states.filter(([, state]) => isFailure(state, options)).length;
  const failed = result.failure === undefined && states.length === 0 && result.retcode !== 0;
  const counts = {
    tests: cases.length,
    failures: failures + (failed ? 1 : 0),
    errors: result.failure === undefined ? 0 : 1,
  };
  const time = states.reduce((total, [, state]) => total + Number(state.duration), 0);
  const head = `<testsuite name="${attribute(result.id)}" tests="${counts.tests}" failures="${counts.failures}" errors="${counts.errors}" time="${seconds(time)}">`;
  return { ...counts, xml: [`  ${head}`, ...cases, '  </testsuite>'].join('\n') };
};

const isFailure = ({ result }: StateResult, { expectsNoChanges }: OutputOptions): boolean =>
  result === false || (result === null && expectsNoChanges === true);

const stateCase = (
  host: string,
  tag: string,
  state: StateResult,
  options: OutputOptions,
): string => {
  const [module, , , fun] = tag.split('_|-');
  const name = `${module}.${fun} ${state.__id__}`;
  const comment = showValue(state.comment);
  const changes =
    state.result !== false && Object.keys(state.changes).length > 0
      ? jsonText(state.changes, 2)
      : undefined;
  const output = state.no_log === true ? undefined : options.printed?.(host, tag);
  const shown = [changes, output].filter(part => part !== undefined).join('\n');
  const body = [
    ...(isFailure(state, options)
      ? [`      <failure message="${attribute(comment)}">${text(comment)}</failure>`]
      : []),
    ...(shown === '' ? [] : [`      <system-out>${text(shown)}</system-out>`]),
  ];
  const properties = `      <properties><property name="outcome" value="${stateOutcome(state)}"/></properties>`;
  const head = `    <testcase classname="${attribute(`${host}.${state.__sls__ ?? ''}`)}" name="${attribute(name)}" time="${seconds(state.duration)}">`;
  return [head, properties, ...body, '    </testcase>'].join('\n');
};

const callCase = (result: HostResult): string => {
  const head = `    <testcase classname="${attribute(result.id)}" name="${attribute(result.fun)}">`;
  const { failure } = result;
  const shown = failure === undefined ? resultData(result) : failure.message;
  const body = typeof shown === 'string' ? shown : jsonText(shown, 2);
  const element =
    failure !== undefined
      ? `<error type="${attribute(failure.code)}" message="${attribute(failure.message)}">${text(body)}</error>`
      : result.retcode !== 0
        ? `<failure message="return code ${result.retcode}">${text(body)}</failure>`
        : `<system-out>${text(body)}</system-out>`;
  return [head, `      ${element}`, '    </testcase>'].join('\n');
};

const seconds = (milliseconds: unknown): string => ((Number(milliseconds) || 0) / 1000).toFixed(3);

// XML 1.0 knows no lone surrogates and no U+FFFE, U+FFFF.
const noXml =
  /[\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const text = (value: string): string =>
  harmless(value)
    .replace(noXml, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

const attribute = (value: string): string =>
  text(value).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
