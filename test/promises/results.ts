import { relative } from 'node:path';
import { type NamedTest, type SecurityPromise, titlePattern } from './document.ts';
import { filesThatRun } from './test-files.ts';

/** The part of vitest's JSON report that is used here. */
export type Report = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
};

/**
 * Compares the promises with what a run of the tests reported.
 *
 * @param promises the promises of the document
 * @param report the run's JSON report
 * @param root the folder of the project
 * @returns one line for each named test that did not run, or of which a case did not pass
 */
export const unshown = (
  promises: readonly SecurityPromise[],
  report: Report,
  root = process.cwd(),
): string[] => {
  const results = new Map(
    report.testResults.map(file => [relative(root, file.name), file.assertionResults]),
  );
  return promises.flatMap(({ tests, line }) =>
    tests.flatMap(named =>
      filesThatRun(named.file).flatMap(file => {
        const fault = faultOf(named, results.get(file));
        return fault ? [`docs/security.md:${line}: ${file} "${named.title}" ${fault}`] : [];
      }),
    ),
  );
};

const faultOf = (
  { title }: NamedTest,
  results: Report['testResults'][number]['assertionResults'] | undefined,
): string | undefined => {
  const pattern = titlePattern(title);
  const cases = results?.filter(result => pattern.test(result.title)) ?? [];
  if (cases.length === 0) return 'did not run';
  const others = cases.filter(({ status }) => status !== 'passed');
  const [first] = others;
  return first && `${first.status} (${others.length} of ${cases.length})`;
};
