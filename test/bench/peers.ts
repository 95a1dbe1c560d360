import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder } from '../helpers/remove-folder.ts';
import { countingProxy, median, type Row, tableOf } from './measure.ts';
import { type Program, programsOn } from './peers/programs.ts';
import { checkFiles, type Workload, workloads } from './peers/workloads.ts';
import { type Bed, withBed } from './project.ts';

/**
 * What one run took: milliseconds, and the processor's time on both sides, that of the hosts where
 * it can be counted.
 */
type Taken = {
  readonly wall: number;
  readonly control: number;
  readonly host: number | undefined;
};

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
      'control CPU ms': Math.round(median(own.map(({ control }) => control))),
      'host CPU ms': medianOf(own.map(({ host }) => host)),
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
  const cpuBefore = await bed.cpu?.read();
  const { wall, control } = await timeCommand(bed, program, workload, port);
  program.reset?.();
  const cpuAfter = await (bed.cpu ? bed.cpu.read() : sessionsEnd(bed));
  const after = checkFiles(target, workload);
  if (before !== undefined && before !== after)
    throw new Error(`${program.name} wrote files of ${workload.name} again.`);
  const host = cpuAfter === undefined || cpuBefore === undefined ? undefined : cpuAfter - cpuBefore;
  return { wall, control, host };
};

const medianOf = (values: readonly (number | undefined)[]): number | string =>
  values.includes(undefined)
    ? 'unknown'
    : Math.round(median(values.filter(value => value !== undefined)));

const usage = new URL('usage.cjs', import.meta.url).pathname;

const timeCommand = async (
  { dir }: Bed,
  program: Program,
  workload: Workload,
  port: number,
): Promise<Omit<Taken, 'host'>> => {
  const { argv, cwd, env } = program.command(workload, port);
  const [command = '', ...args] = argv;
  const isNode = command === process.execPath;
  const usageFile = join(dir, 'usage.json');
  rmSync(usageFile, { force: true });
  const cpuBefore = cpuOfChildren(process.pid);
  const begin = performance.now();
  const child = spawn(command, isNode ? ['-r', usage, ...args] : args, {
    cwd,
    env: { ...process.env, ...env, USAGE_FILE: usageFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += String(chunk);
    });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const wall = performance.now() - begin;
  if (code !== 0)
    throw new Error(
      `${program.name} ended with ${code} in ${workload.name}: ${output.slice(-2000)}`,
    );
  // Node's own count is finer than that of /proc, which has hundredths of a second.
  const control = isNode
    ? (JSON.parse(readFileSync(usageFile, 'utf8')) as { cpu: number }).cpu
    : cpuOfChildren(process.pid) - cpuBefore;
  return { wall, control };
};

/** Returns the CPU time of a process's ended children and their descendants, in milliseconds. */
const cpuOfChildren = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
};

/** Waits for the sessions of sshd, so that none of them takes time of the next run. */
const sessionsEnd = async ({ sshd: { pid } }: Bed): Promise<undefined> => {
  const children = `/proc/${pid}/task/${pid}/children`;
  for (let turn = 0; turn < 200 && readFileSync(children, 'utf8').trim() !== ''; turn += 1)
    await sleep(20);
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
