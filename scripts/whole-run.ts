// `whole-run FILE CODE` judges the run of all tests whose JSON report is in FILE and which ended with
// CODE. Files of which a test failed run twice more, alone: what passes both times is told as unsteady,
// a fault to mend that keeps nobody else's change from landing. FILE then holds these answers. Tests
// that take long without the tag `slow` are named.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { uncaughtErrorsFile } from './uncaught-errors.ts';
import {
  countTests,
  filesToRepeat,
  type RunReport,
  settle,
  type UncaughtError,
  untaggedSlow,
  withUncaught,
} from './unsteady.ts';

/** Where more files fail than that, something is broken. */
const mostFiles = 4;
const times = 2;

/** What a test may take, on a loaded machine, without the tag that keeps it out of `npm test`. */
const mostSeconds = 8;

const [, , path = 'coverage/results.json', code = '0'] = process.argv;
const parse = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;
/** The report of the run that ended last. */
const read = (file: string): RunReport =>
  withUncaught(parse<RunReport>(file), parse<UncaughtError[]>(uncaughtErrorsFile));

const runAlone = (files: readonly string[], to: string): RunReport => {
  for (const file of [to, uncaughtErrorsFile]) rmSync(file, { force: true });
  spawnSync(
    'npx',
    [
      ...['vitest', 'run', '--no-file-parallelism', '--reporter=default', '--reporter=json'],
      '--reporter=scripts/uncaught-errors.ts',
      `--outputFile.json=${to}`,
      ...files,
    ],
    { stdio: 'inherit' },
  );
  return existsSync(to) ? read(to) : { testResults: [] };
};

const report = read(path);
const files = filesToRepeat(report);
const isRepeated = files.length > 0 && files.length <= mostFiles;
const again = isRepeated
  ? Array.from({ length: times }, (_, at) => runAlone(files, `${path}.${at + 1}`))
  : [];
const settled = settle(report, again);
writeFileSync(path, JSON.stringify(settled.report));

for (const line of untaggedSlow(report, mostSeconds))
  console.log(`long for a test without the tag slow: ${line}`);
const { passed, others } = countTests(settled.report);
for (const { name, message } of settled.unsteady)
  console.log(`unsteady, passed ${times} times alone: ${name}\n    ${message.split('\n')[0]}`);
for (const line of others) console.log(line);
console.log(
  `${passed} passed, ${others.length} failed or skipped, ${settled.unsteady.length} unsteady`,
);
const isExplained = code === '0' || settled.unsteady.length > 0;
process.exitCode = others.length === 0 && passed > 0 && isExplained ? 0 : 1;
