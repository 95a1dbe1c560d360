import { existsSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { type Breakage, promiseOf, runFile, securityPromises, staleness } from './breakage.ts';
import { ProjectCopy } from './copy.ts';
import { type FullReport, type Outcome, outcomeOf, selection } from './outcome.ts';
import { security } from './security.ts';

// Shows that tests fail when the guard that they are about is removed:
// npm run mutate -- GROUP [--only TEXT] [--slow FACTOR]

const groups: Readonly<Record<string, readonly Breakage[]>> = { security };

/** Seconds that one test may take, and that a run of vitest may take in which a guard is missing. */
const testSeconds = 60;
const runSeconds = 150;
/** For the run of all tests as they are. */
const firstSeconds = 1800;
const buildSeconds = 120;

const vitest = 'node_modules/vitest/vitest.mjs';

const runTests = async (
  copy: ProjectCopy,
  breakages: readonly Breakage[],
  limits: { readonly test: number; readonly run: number },
  slow: number,
): Promise<FullReport | string> => {
  const output = copy.path('mutation.json');
  rmSync(output, { force: true });
  const files = [...new Set(breakages.map(each => runFile(each) ?? each.test.file))];
  const { isOver, code, said } = await copy.node(
    [
      vitest,
      'run',
      ...files,
      ...['unit', 'host', 'lab'].map(level => `--project=${level}`),
      `--testNamePattern=${selection(breakages.map(({ test }) => test.title))}`,
      `--testTimeout=${limits.test * slow * 1000}`,
      '--retry=0',
      '--reporter=json',
      `--outputFile=${output}`,
    ],
    limits.run * slow,
  );
  if (isOver) return `vitest did not end within ${limits.run * slow} s`;
  if (!existsSync(output)) return `vitest ended with ${code} and no report: ${said.trim()}`;
  return JSON.parse(readFileSync(output, 'utf8')) as FullReport;
};

const outcomeIn = (report: FullReport | string, breakage: Breakage, copy: ProjectCopy): Outcome =>
  typeof report === 'string'
    ? { kind: 'never ran', why: report }
    : outcomeOf(report, copy.root, runFile(breakage) ?? '', breakage.test.title);

/** Runs the tests as they are: one that fails anyway shows nothing. */
const outcomesBefore = async (
  copy: ProjectCopy,
  breakages: readonly Breakage[],
  slow: number,
): Promise<ReadonlyMap<Breakage, Outcome>> => {
  const report = await runTests(copy, breakages, { test: 240, run: firstSeconds }, slow);
  return new Map(breakages.map(each => [each, outcomeIn(report, each, copy)]));
};

const nameOf = ({ test }: Breakage): string => `${test.file} "${test.title}"`;

/** The meaning of a breakage's result; `BROKE` and `NEVER RAN` show nothing about the guard. */
const verdicts = {
  failed: 'killed',
  passed: 'SURVIVED',
  broke: 'BROKE',
  'never ran': 'NEVER RAN',
} as const satisfies Record<Outcome['kind'], string>;

type Verdict = {
  readonly kind: (typeof verdicts)[Outcome['kind']] | 'UNUSABLE';
  readonly why: string;
};

const verdictOn = async (
  breakage: Breakage,
  before: Outcome | undefined,
  copy: ProjectCopy,
  slow: number,
): Promise<Verdict> => {
  if (before?.kind !== 'passed')
    return { kind: 'UNUSABLE', why: `without the breakage: ${before?.kind}: ${before?.why}` };
  const { kind, why } = await copy.with(breakage, async () =>
    outcomeIn(
      await runTests(copy, [breakage], { test: testSeconds, run: runSeconds }, slow),
      breakage,
      copy,
    ),
  );
  return { kind: verdicts[kind], why };
};

const check = async (
  name: string,
  breakages: readonly Breakage[],
  signal: AbortSignal,
  slow: number,
): Promise<boolean> => {
  const promises = securityPromises();
  const stale = breakages.flatMap(each => {
    const why = staleness(each, promises);
    return why === undefined ? [] : [`${each.file}: ${why}`];
  });
  if (stale.length > 0) {
    console.error(stale.join('\n'));
    return false;
  }
  const started = performance.now();
  const copy = new ProjectCopy(process.cwd(), signal, buildSeconds * slow);
  try {
    await copy.build();
    const before = await outcomesBefore(copy, breakages, slow);
    console.log(`${seconds(started)}  The tests have run without a breakage.`);
    const held = new Set<string>();
    let killed = 0;
    for (const breakage of breakages) {
      const begun = performance.now();
      const { kind, why } = await verdictOn(breakage, before.get(breakage), copy, slow);
      const promise = promiseOf(breakage, promises) ?? '';
      console.log(`${seconds(begun)}  ${kind.padEnd(9)}  ${breakage.file}  ${shortened(promise)}`);
      if (kind === 'killed') {
        killed += 1;
        held.add(promise);
        if (/ in time|timed out|STACK_TRACE_ERROR/.test(why))
          console.log(`          by its time: ${why}`);
      } else {
        console.log(`          ${breakage.find}  ->  ${breakage.replace}`);
        console.log(`          ${nameOf(breakage)}: ${why}`);
      }
    }
    console.log(
      `${name}: ${killed} of ${breakages.length} breakages killed, for ${held.size} promises of docs/security.md, in ${seconds(started).trim()}`,
    );
    return killed === breakages.length;
  } finally {
    copy.remove();
  }
};

const seconds = (since: number): string =>
  `${((performance.now() - since) / 1000).toFixed(1)} s`.padStart(8);

const shortened = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text);

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, slow: { type: 'string', default: '1' } },
  });
  const [name = ''] = positionals;
  const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
  if (group === undefined || positionals.length > 1 || !(Number(values.slow) >= 1)) {
    console.error(
      `Usage: npm run mutate -- ${Object.keys(groups).join('|')} [--only TEXT] [--slow FACTOR]\n` +
        'TEXT selects breakages by a part of their file, change, test file or title.\n' +
        'FACTOR multiplies all limits of time, for a machine that does much else.',
    );
    return 64;
  }
  const { only } = values;
  const slow = Number(values.slow);
  const chosen = group.filter(
    each => only === undefined || `${nameOf(each)} ${each.file} ${each.find}`.includes(only),
  );
  if (chosen.length === 0) {
    console.error(`No breakage of ${name} has "${only}" in it.`);
    return 64;
  }
  const controller = new AbortController();
  let signalled: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      signalled ??= signal;
      controller.abort();
    });
  try {
    return (await check(name, chosen, controller.signal, slow)) ? 0 : 1;
  } catch (error) {
    if (signalled) return 128 + constants.signals[signalled];
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
};

process.exitCode = await main();
