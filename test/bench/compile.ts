import { performance } from 'node:perf_hooks';
import { type Chunk, lowChunks } from '../../src/compiler/chunks.ts';
import { compile } from '../../src/compiler/compile.ts';
import { loadSls, type SlsTree } from '../../src/compiler/load.ts';
import type { SlsLoader } from '../../src/data/sls.ts';
import { toDict } from '../../src/data/values/value.ts';
import type { PlainDict } from '../../src/protocol/plain.ts';

export type CompileRow = {
  readonly states: number;
  readonly files: number;
  /** CPU of all threads, the garbage collector's too; best of the repetitions. */
  readonly milliseconds: number;
  readonly microsecondsPerState: number;
  /** Cost per state against the smallest tree. */
  readonly ratio: number;
  /** Per state, the chunks made ready to travel besides. */
  readonly microsecondsSent: number;
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
  const measured: Measured[] = [];
  for (const size of sizes) {
    const tree = await makeTree(size);
    measured.push({
      states: size,
      alone: bestOf(size, () => compiled(tree)),
      sent: bestOf(size, () => lowChunks(compiled(tree))),
    });
  }
  const smallest = measured[0]?.alone ?? 1;
  const rows = measured.map(({ states, alone, sent }) => ({
    states,
    files: fileCount,
    milliseconds: round((alone * states) / 1000),
    microsecondsPerState: round(alone),
    ratio: round(alone / smallest),
    microsecondsSent: round(sent),
  }));
  return { table: tableOf(rows), rows };
};

/** Microseconds per state: compiled alone, and made ready to be sent. */
type Measured = { readonly states: number; readonly alone: number; readonly sent: number };

const compiled = (tree: SlsTree): readonly Chunk[] => {
  const { chunks, errors } = compile(tree);
  if (errors[0]) throw new Error(errors[0].message);
  return chunks;
};

/** The least CPU time per state of many repetitions, in microseconds. */
const bestOf = (states: number, work: () => readonly unknown[]): number => {
  let best = Number.POSITIVE_INFINITY;
  let done = 0;
  const until = performance.now() + 2500;
  do {
    const before = process.cpuUsage();
    const made = work().length;
    const { user, system } = process.cpuUsage(before);
    if (made !== states) throw new Error(`${made} chunks came of ${states} states.`);
    best = Math.min(best, (user + system) / states);
    done += states;
  } while (performance.now() < until || done < leastStates);
  return best;
};

const round = (value: number): number => Math.round(value * 100) / 100;

const tableOf = (rows: readonly CompileRow[]): string => {
  const cells = [
    ['states', 'files', 'ms of CPU', 'µs/state', 'against smallest', 'µs/state as sent'],
    ...rows.map(row => [
      String(row.states),
      String(row.files),
      row.milliseconds.toFixed(1),
      row.microsecondsPerState.toFixed(2),
      `${row.ratio.toFixed(2)} x`,
      row.microsecondsSent.toFixed(2),
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
