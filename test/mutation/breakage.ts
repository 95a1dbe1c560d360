import { readFileSync } from 'node:fs';
import {
  type NamedTest,
  readPromises,
  type SecurityPromise,
  sameTitle,
} from '../promises/document.ts';
import { testsOf } from '../promises/live-tests.ts';
import { filesThatRun } from '../promises/test-files.ts';

/** Removes one guard: replaces a text that occurs exactly once in a file, within one line. */
export type Breakage = {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The test that has to fail, as docs/security.md names it. */
  readonly test: NamedTest;
  /** The test file that runs it, where `test.file` only defines tests for others. */
  readonly via?: string;
  /** The test runs the built command line, which is built again with the breakage. */
  readonly isBuilt?: true;
};

/**
 * Makes breakages that one test has to notice, each of them alone.
 *
 * @param file the test file, as docs/security.md names it
 * @param title the test's title, as docs/security.md names it
 * @param guards where guards are, and what is put in their place
 * @param more further facts about these breakages
 */
export const killedBy = (
  file: string,
  title: string,
  guards: readonly Pick<Breakage, 'file' | 'find' | 'replace'>[],
  more: Pick<Breakage, 'via' | 'isBuilt'> = {},
): Breakage[] => guards.map(guard => ({ ...guard, ...more, test: { file, title } }));

/**
 * Finds the promise that names the test of a breakage.
 *
 * @param breakage a breakage
 * @param promises the promises of the document
 * @returns the text of the promise; undefined when none names the test
 */
export const promiseOf = (
  { test }: Breakage,
  promises: readonly SecurityPromise[],
): string | undefined =>
  promises.find(({ tests }) =>
    tests.some(({ file, title }) => file === test.file && sameTitle(title, test.title)),
  )?.text;

/**
 * Compares a breakage with the files of the project, without running anything.
 *
 * @param breakage a breakage
 * @param promises the promises of docs/security.md
 * @returns what is wrong with it; undefined when it can be used
 */
export const staleness = (
  breakage: Breakage,
  promises: readonly SecurityPromise[],
): string | undefined => {
  const { file, find, replace, test } = breakage;
  if (/[\r\n]/.test(find + replace) || find === '' || find === replace)
    return 'it is not a change within one line';
  const count = readFileSync(file, 'utf8').split(find).length - 1;
  if (count !== 1) return `its text occurs ${count} times in ${file}: ${find}`;
  if (promiseOf(breakage, promises) === undefined)
    return `docs/security.md names no test "${test.title}" of ${test.file}`;
  const run = runFile(breakage);
  if (run === undefined) return `no single test file runs ${test.file}: name one by via`;
  const { live } = testsOf(test.file, filesThatRun(test.file));
  return live.some(({ title }) => sameTitle(title, test.title))
    ? undefined
    : `${test.file} runs no test "${test.title}"`;
};

/** The test file that vitest runs for a breakage. */
export const runFile = ({ test, via }: Breakage): string | undefined => {
  const files = filesThatRun(test.file);
  return via === undefined
    ? files.length === 1
      ? files[0]
      : undefined
    : files.find(f => f === via);
};

/** The promises of docs/security.md. */
export const securityPromises = (): SecurityPromise[] =>
  readPromises(readFileSync('docs/security.md', 'utf8'));
