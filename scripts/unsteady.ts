/** The part of vitest's JSON report that is used here. */
export type RunReport = {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    /** Why it could not be loaded, set up or cleaned up. */
    readonly message?: string | undefined;
    readonly assertionResults: readonly TestResult[];
  }[];
};

type TestFile = RunReport['testResults'][number];

type TestResult = {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[] | undefined;
  /** Milliseconds. */
  readonly duration?: number | null | undefined;
  readonly tags?: readonly string[] | undefined;
};

/** A test that failed once among all others, and passed each time when its file ran alone. */
export type UnsteadyTest = { readonly name: string; readonly message: string };

/** What a run reported, with the answers of files that ran again. */
export type Settled = { readonly report: RunReport; readonly unsteady: readonly UnsteadyTest[] };

/** An error that no test caught, and the file of tests that ran then. */
export type UncaughtError = { readonly file?: string | undefined; readonly message: string };

/**
 * Adds to a report the errors that no test caught: the file that ran then has failed.
 *
 * @param report the run's JSON report
 * @param uncaught the errors; one that no file of the report can be blamed for counts as a file that
 *   could not be loaded
 * @returns a report with these faults
 */
export const withUncaught = (report: RunReport, uncaught: readonly UncaughtError[]): RunReport => {
  const known = new Set(report.testResults.map(({ name }) => name));
  const failed = new Map(uncaught.map(({ file = '', message }) => [file, message]));
  const files = report.testResults.map(file => {
    const message = failed.get(file.name);
    return message === undefined ? file : { ...file, status: 'failed', message };
  });
  const others = [...failed]
    .filter(([name]) => !known.has(name))
    .map(([name, message]) => ({
      name: name || `an error that no test caught: ${message}`,
      status: 'failed',
      message,
      assertionResults: [],
    }));
  return { ...report, testResults: [...files, ...others] };
};

/**
 * Lists the files of a run with a test that did not pass, or that could not be loaded.
 *
 * @param report the run's JSON report
 * @returns their paths
 */
export const filesToRepeat = (report: RunReport): string[] =>
  report.testResults.filter(file => faultsOf(file).length > 0).map(file => file.name);

/**
 * Takes the answers of the runs in which only some files ran again. A file counts as passed when all
 * of its tests passed in each of these runs, and none is missing there that the whole run knew.
 *
 * @param report the JSON report of the whole run
 * @param again the JSON reports of the runs of `filesToRepeat` alone; at least one
 * @returns the report with these answers, and the tests that failed in the whole run only
 */
export const settle = (report: RunReport, again: readonly RunReport[]): Settled => {
  const unsteady: UnsteadyTest[] = [];
  const testResults = report.testResults.map(file => {
    const faults = faultsOf(file);
    const others = again.flatMap(one => one.testResults.filter(({ name }) => name === file.name));
    const [first] = others;
    if (faults.length === 0 || !first || others.length !== again.length) return file;
    const hasPassed = others.every(
      other =>
        other.status === 'passed' &&
        other.assertionResults.length > 0 &&
        other.assertionResults.every(({ status }) => status === 'passed') &&
        file.assertionResults.every(({ fullName }) =>
          other.assertionResults.some(each => each.fullName === fullName),
        ),
    );
    if (!hasPassed) return file;
    unsteady.push(...faults.map(({ name, message }) => ({ name, message })));
    return first;
  });
  return { report: { ...report, testResults }, unsteady };
};

/**
 * Counts the tests of a report that passed, and names the others. A file that could not be loaded, or
 * whose tests passed but left something that could not be cleaned up, is named by its path.
 *
 * @param report a JSON report
 */
export const countTests = (report: RunReport): { passed: number; others: string[] } => ({
  passed: report.testResults
    .flatMap(file => file.assertionResults)
    .filter(({ status }) => status === 'passed').length,
  others: report.testResults.flatMap(faultsOf).map(({ name, status }) => `${status}: ${name}`),
});

const faultsOf = (file: TestFile): (UnsteadyTest & { readonly status: string })[] => {
  const tests = file.assertionResults
    .filter(({ status }) => status !== 'passed')
    .map(({ fullName, status, failureMessages }) => ({
      name: fullName,
      status,
      message: failureMessages?.[0] || file.message || status,
    }));
  if (tests.length > 0 || file.status === 'passed') return tests;
  return [{ name: file.name, status: file.status, message: file.message || file.status }];
};

/**
 * Lists the tests that took long without the tag by which `npm test` leaves them out. Tests on
 * booted machines are none: only root runs them.
 *
 * @param report the run's JSON report
 * @param seconds how long a test may take without the tag `slow`
 * @returns a line for each, the longest first
 */
export const untaggedSlow = ({ testResults }: RunReport, seconds: number): string[] =>
  testResults
    .filter(({ name }) => !name.includes('/test/lab/'))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ tags }) => !tags?.includes('slow'))
    .map(({ fullName, duration }) => ({ fullName, taken: (duration ?? 0) / 1000 }))
    .filter(({ taken }) => taken > seconds)
    .toSorted((one, other) => other.taken - one.taken)
    .map(({ fullName, taken }) => `${taken.toFixed(1)} s: ${fullName}`);
