import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from '../helpers/remove-folder.ts';
import { countingProxy, median, type Row, tableOf } from './measure.ts';
import { type Program, programsOn } from './peers/programs.ts';
import { checkFiles, type Workload, workloads } from './peers/workloads.ts';
import { type Bed, withBed } from './project.ts';
import { cpuCells, type Taken, takenBy } from './taken.ts';

type PeersOptions = {
  readonly runs?: number | undefined;
  /** Names of workloads; all by default. */
  readonly only?: readonly string[] | undefined;
  /** Names of programs beside the floor; all that are installed by default. */
  readonly programs?: readonly string[] | undefined;
};

/**
 * The workloads of users on this program and on the peers that are installed, interleaved with the
 * floor. Each run is checked: the files are as wanted, and nothing that was right is written again.
 */
export const benchPeers = ({ runs = 9, only, programs }: PeersOptions) =>
  withBed(async bed => {
    const rows: Row[] = [];
    const isRoot = process.getuid?.() === 0;
    for (const workload of workloads) {
      if (only ? !only.includes(workload.name) : workload.isMixed && !isRoot) continue;
      const measured = programsOn(bed).filter(
        ({ name }, at) => at === 0 || !programs || programs.includes(name),
      );
      rows.push(...(await measureWorkload(bed, workload, measured, runs)));
    }
    return { table: tableOf(rows), rows };
  });

const measureWorkload = async (
  bed: Bed,
  workload: Workload,
  programs: readonly Program[],
  runs: number,
): Promise<Row[]> => {
  const taken = programs.map((): Taken[] => []);
  for (const program of programs) {
    await runOnce(bed, program, workload);
    await runOnce(bed, program, workload);
  }
  for (let run = 0; run < runs; run += 1)
    for (const [at, program] of programs.entries())
      taken[at]?.push(await runOnce(bed, program, workload));
  const rows: Row[] = [];
  for (const [at, program] of programs.entries()) {
    const own = taken[at] ?? [];
    const ratios = own.map(({ wall }, run) => wall / (taken[0]?.[run]?.wall ?? wall));
    const { up, down } = await bytesOf(bed, program, workload);
    rows.push({
      name: `${workload.name} ${program.name}`,
      'median ms': Math.round(median(own.map(({ wall }) => wall))),
      'x floor': median(ratios).toFixed(2),
      ...cpuCells(own),
      'bytes up': up,
      'bytes down': down,
    });
  }
  return rows;
};

/** Runs a program once, and checks what it did. */
const runOnce = async (
  bed: Bed,
  program: Program,
  workload: Workload,
  port = bed.sshd.port,
): Promise<Taken> => {
  const target = join(bed.dir, 'target');
  if (workload.isNew) removeFolder(target);
  const isAgain = !workload.isNew && existsSync(join(target, workload.name));
  const before = isAgain ? checkFiles(target, workload) : undefined;
  const taken = await takenBy(bed, program.command(workload, port), () => program.reset?.());
  const after = checkFiles(target, workload);
  if (before !== undefined && before !== after)
    throw new Error(`${program.name} wrote files of ${workload.name} again.`);
  return taken;
};

/** Counts the bytes that one run sends and receives, with encryption and handshake. */
const bytesOf = async (
  bed: Bed,
  program: Program,
  workload: Workload,
): Promise<{ up: number; down: number }> => {
  const proxy = await countingProxy(bed.sshd.port);
  try {
    await runOnce(bed, program, workload, proxy.port);
    return { up: proxy.counts.up, down: proxy.counts.down };
  } finally {
    await proxy.close();
  }
};
