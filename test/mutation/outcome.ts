import { relative } from 'node:path';
import { titlePattern } from '../promises/document.ts';
/** The part of vitest's JSON report that is used here. */
export type FullReport = {
  readonly testResults: readonly {
    readonly name: string;
    /** Why the file could not be run. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

/** The result of a test: only `failed` shows that it notices a missing guard. */
export type Outcome = {
  readonly kind: 'passed' | 'failed' | 'broke' | 'never ran';
  /** The first line of the failure, or why the test never ran. */
  readonly why: string;
};

/**
 * How an expectation that does not hold, or a test whose time is over, begins its message. vitest
 * reports the latter as STACK_TRACE_ERROR where its own stack replaces that of the time limit.
 */
const expected =
  /^(?:AssertionError\b|Error: (?:Test timed out in |STACK_TRACE_ERROR|Matcher did not succeed in time|expected |Property failed after |promise (?:resolved|rejected) ))/;

/**
 * Reads the outcome of one test from a report.
 *
 * @param report the report
 * @param root the folder in which the tests ran
 * @param file the test file that ran
 * @param title the test's title, with the placeholders of `test.each`
 * @returns `failed` when an expectation of any case failed or its time was over, `broke` when cases
 *   failed by other errors only
 */
export const outcomeOf = (
  report: FullReport,
  root: string,
  file: string,
  title: string,
): Outcome => {
  const found = report.testResults.find(({ name }) => relative(root, name) === file);
  const pattern = titlePattern(title);
  const cases = (found?.assertionResults ?? []).filter(
    each => pattern.test(each.title) && ['passed', 'failed'].includes(each.status),
  );
  if (cases.length === 0) return { kind: 'never ran', why: firstLine(found?.message) };
  const failures = cases
    .filter(({ status }) => status === 'failed')
    .map(({ failureMessages: [first = 'it names no cause'] = [] }) => first);
  const failure = failures.find(message => expected.test(message));
  if (failure !== undefined) return { kind: 'failed', why: firstLine(failure) };
  if (failures.length > 0) return { kind: 'broke', why: firstLine(failures[0]) };
  return { kind: 'passed', why: `${cases.length} cases passed` };
};

const firstLine = (text = ''): string => text.trim().split('\n')[0] ?? '';

/**
 * Makes the expression that selects tests by their full names, to which groups are prefixed.
 *
 * @param titles titles with the placeholders of `test.each`
 */
export const selection = (titles: readonly string[]): string =>
  `(?:^| )(?:${[...new Set(titles)].map(title => titlePattern(title).source.slice(1, -1)).join('|')})$`;
