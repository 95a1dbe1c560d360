import { performance } from 'node:perf_hooks';
import { compile } from '../../src/compiler/compile.ts';
import { loadSls, type SlsTree } from '../../src/compiler/load.ts';
import type { SlsLoader } from '../../src/data/sls.ts';
import { toDict } from '../../src/data/value.ts';
import type { PlainDict } from '../../src/protocol/plain.ts';

export type CompileRow = {
  readonly states: number;
  readonly files: number;
  /** Best of the repetitions. */
  readonly milliseconds: number;
  readonly microsecondsPerState: number;
  /** Cost per state against the smallest tree. */
  readonly ratio: number;
};

export type CompileBench = { readonly table: string; readonly rows: readonly CompileRow[] };

const sizes = [1_000, 10_000, 50_000];
const fileCount = 200;
/** On a busy machine the time alone would end before the code is compiled, or after two large trees. */
const leastStates = 500_000;

/**
 * Compiles trees of 200 SLS: chains of `require`, fans of `watch_in` on one service per SLS,
 * `use`, bare-name requisites, and one extend per SLS that names a state by its name.
 */
export const benchCompile = async (): Promise<CompileBench> => {
  const measured: { states: number; milliseconds: number }[] = [];
  for (const size of sizes) {
    const tree = await makeTree(size);
    let best = Number.POSITIVE_INFINITY;
    let states = 0;
    let compiled = 0;
    const until = performance.now() + 2500;
    do {
      const start = performance.now();
      const { chunks, errors } = compile(tree);
      best = Math.min(best, performance.now() - start);
      if (errors[0]) throw new Error(errors[0].message);
      states = chunks.length;
      compiled += states;
    } while (performance.now() < until || compiled < leastStates);
    measured.push({ states, milliseconds: best });
  }
  const perState = ({ states, milliseconds }: (typeof measured)[number]): number =>
    (milliseconds * 1000) / states;
  const [smallest] = measured;
  const rows = measured.map(one => ({
    states: one.states,
    files: fileCount,
    milliseconds: round(one.milliseconds),
    microsecondsPerState: round(perState(one)),
    ratio: round(perState(one) / (smallest ? perState(smallest) : 1)),
  }));
  return { table: tableOf(rows), rows };
};

const round = (value: number): number => Math.round(value * 100) / 100;

const tableOf = (rows: readonly CompileRow[]): string => {
  const cells = [
    ['states', 'files', 'ms', 'µs/state', 'against smallest'],
    ...rows.map(row => [
      String(row.states),
      String(row.files),
      row.milliseconds.toFixed(1),
      row.microsecondsPerState.toFixed(2),
      `${row.ratio.toFixed(2)} x`,
    ]),
  ];
  return cells.map(row => row.map(cell => cell.padStart(17)).join('')).join('\n');
};

const makeTree = (states: number): Promise<SlsTree> => {
  const files = new Map<string, PlainDict>();
  const perFile = Math.floor(states / fileCount);
  for (let file = 0; file < fileCount; file += 1) files.set(`s${file}`, makeSls(file, perFile));
  const loader: SlsLoader = {
    envs: () => ['base'],
    list: async () => [...files.keys()],
    render: async (saltenv, sls) => {
      const data = files.get(sls);
      return data && { sls, saltenv, file: `${sls}.sls`, data: toDict(data) };
    },
  };
  return loadSls({ matches: new Map([['base', ['s*']]]), loader });
};

const makeSls = (file: number, count: number): PlainDict => {
  const service = `service-${file}`;
  const sls: PlainDict = {
    [service]: { 'service.running': [{ name: `daemon-${file}` }, { enable: true }] },
  };
  if (file > 0) {
    sls.include = [`s${file - 1}`];
    sls.extend = {
      [`daemon-${file - 1}`]: { 'service.running': [{ watch: [{ file: `file-${file}-1` }] }] },
    };
  }
  for (let at = 1; at < count; at += 1) {
    // Counted over all files, so that small and large trees hold the same mix.
    const nth = file * count + at;
    sls[`file-${file}-${at}`] = {
      'file.managed': [
        { name: `/etc/app-${file}/conf-${at}` },
        { source: `salt://app/conf-${at}` },
        { mode: '0644' },
        ...(at > 1 ? [{ require: [{ file: `file-${file}-${at - 1}` }] }] : []),
        ...(nth % 3 === 0 ? [{ watch_in: [{ service }] }] : []),
        ...(at > 1 && nth % 7 === 0 ? [{ use: [{ file: `file-${file}-1` }] }] : []),
        ...(nth % 11 === 0 ? [{ require_in: [service] }] : []),
      ],
    };
  }
  return sls;
};
