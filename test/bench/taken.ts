import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './measure.ts';
import type { Bed } from './project.ts';

/**
 * The milliseconds of one run, and the processor's time on both sides, that of the hosts where it can
 * be counted.
 */
export type Taken = {
  readonly wall: number;
  readonly control: number;
  readonly host: number | undefined;
};

export type TimedCommand = {
  readonly argv: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
};

/** Runs a command against the bed's hosts. @param after is called before the host's time is read */
export const takenBy = async (
  bed: Bed,
  command: TimedCommand,
  after: () => void = () => undefined,
): Promise<Taken> => {
  const cpuBefore = await bed.cpu?.read();
  const { wall, control } = await timeCommand(bed, command);
  after();
  const cpuAfter = await (bed.cpu ? bed.cpu.read() : sessionsEnd(bed));
  const host = cpuAfter === undefined || cpuBefore === undefined ? undefined : cpuAfter - cpuBefore;
  return { wall, control, host };
};

/** The cells of a table for runs of one kind. */
export const cpuCells = (taken: readonly Taken[]): Record<string, number | string> => ({
  'control CPU ms': Math.round(median(taken.map(({ control }) => control))),
  'host CPU ms': medianOf(taken.map(({ host }) => host)),
});

const medianOf = (values: readonly (number | undefined)[]): number | string =>
  values.includes(undefined)
    ? 'unknown'
    : Math.round(median(values.filter(value => value !== undefined)));

const usage = new URL('usage.cjs', import.meta.url).pathname;

const timeCommand = async (
  { dir }: Bed,
  { argv, cwd, env }: TimedCommand,
): Promise<Omit<Taken, 'host'>> => {
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
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${output.slice(-2000)}`);
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
