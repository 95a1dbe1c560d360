import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../helpers/cli.ts';
import { countingProxy, median, type Row, tableOf, timeProcess } from './measure.ts';
import { programsOn, tsaltProject } from './peers/programs.ts';
import { checkFiles, workloads } from './peers/workloads.ts';
import { type Bed, withBed } from './project.ts';

/** A process that carries out calls over a connection and a runtime that stay open. */
type Session = {
  /** Returns the milliseconds until the process has reported the end of the call. */
  readonly call: (words: string) => Promise<number>;
  readonly close: () => Promise<void>;
};

const work = ['ping', 'files100'] as const;
type Work = (typeof work)[number];
const calls: Readonly<Record<Work, string>> = {
  ping: 'test.ping',
  files100: 'state.apply files100',
};

const workloadOf = (name: Work) => {
  const found = workloads.find(workload => workload.name === name);
  if (!found) throw new Error(`There is no workload ${name}.`);
  return found;
};

/** Long, so that a busy machine's own delays do not count as round trips. */
const rtt = 500;

const kinds = ['connect', 'console'] as const;
type Kind = (typeof kinds)[number];

/**
 * Second calls in sessions that were just opened, and calls in sessions that stay open during the
 * whole bench, interleaved with the floor, which starts and logs in each time.
 */
export const benchSession = ({ runs = 9 }: { readonly runs?: number | undefined }) =>
  withBed(async bed => {
    const [, tsalt] = programsOn(bed);
    const {
      argv = [],
      cwd,
      env = {},
    } = tsalt?.command(workloadOf('files100'), bed.sshd.port) ?? {};
    await timeProcess(argv, env, cwd);
    await timeProcess(argv, env, cwd);
    const check = (): string => checkFiles(join(bed.dir, 'target'), workloadOf('files100'));
    const before = check();
    const times = await measure(bed, runs);
    const trips = await countTrips(bed);
    if (check() !== before) throw new Error('A call wrote files again.');
    const rows = rowsOf(times, trips);
    return { table: tableOf(rows), rows };
  });

type Times = Record<string, number[]>;

const measure = async (bed: Bed, runs: number): Promise<Times> => {
  const times: Times = {};
  const put = (name: string, took: number): void => {
    times[name] = [...(times[name] ?? []), took];
  };
  const lasting = { connect: await open(bed, 'connect'), console: await open(bed, 'console') };
  try {
    for (const name of work) await timeFloor(bed, name);
    for (let run = 0; run < runs; run += 1) {
      for (const name of work) put(`floor ${name}`, await timeFloor(bed, name));
      for (const kind of kinds) {
        const session = await open(bed, kind);
        for (const name of work) {
          await session.call(calls[name]);
          put(`${kind} ${name}, 2nd call`, await session.call(calls[name]));
        }
        await session.close();
        for (const name of work)
          put(`${kind} ${name}, later calls`, await lasting[kind].call(calls[name]));
      }
    }
  } finally {
    for (const session of Object.values(lasting)) await session.close();
  }
  return times;
};

const timeFloor = (bed: Bed, name: Work): Promise<number> => {
  const [floor] = programsOn(bed);
  const { argv = [], env = {}, cwd } = floor?.command(workloadOf(name), bed.sshd.port) ?? {};
  return timeProcess(argv, env, cwd);
};

/** Ratios are those of the pairs, so that a busy minute falls on both. */
const rowsOf = (times: Times, trips: Readonly<Record<string, string>>): Row[] =>
  Object.entries(times).map(([name, values]) => {
    const floor = times[`floor ${name.includes('ping') ? 'ping' : 'files100'}`] ?? [];
    const ratios = values.map((value, at) => value / (floor[at] ?? value));
    return {
      name,
      'median ms': median(values).toFixed(1),
      'min ms': Math.min(...values).toFixed(1),
      'x floor': median(ratios).toFixed(2),
      'round trips': trips[name] ?? '',
    };
  });

/** Round trips of the second calls: how much longer they take when each way is delayed. */
const countTrips = async (bed: Bed): Promise<Record<string, string>> => {
  const trips: Record<string, string> = {};
  const slow = await countingProxy(bed.sshd.port, rtt / 2);
  const quick = await countingProxy(bed.sshd.port);
  try {
    for (const kind of kinds) {
      const slowly = await open(bed, kind, slow.port);
      const quickly = await open(bed, kind, quick.port);
      for (const name of work) {
        for (const session of [slowly, quickly]) await session.call(calls[name]);
        const extra = (await slowly.call(calls[name])) - (await quickly.call(calls[name]));
        trips[`${kind} ${name}, 2nd call`] = (extra / rtt).toFixed(1);
      }
      await slowly.close();
      await quickly.close();
    }
    return trips;
  } finally {
    await slow.close();
    await quick.close();
  }
};

const open = (bed: Bed, kind: Kind, port = bed.sshd.port): Promise<Session> => {
  const project = tsaltProject(bed, workloadOf('files100'), port);
  const { cwd, roster, dist } = project;
  const library = join(packageRoot, 'test/bench/session-child.mjs');
  const options = JSON.stringify({ config: cwd, roster, target: '*' });
  return kind === 'connect'
    ? start([library], { LIBRARY: join(dist, 'index.js'), OPTIONS: options }, project)
    : // The console carries out lines one after the other: `target` is answered when the call is done.
      start(
        [join(dist, 'tsalt-ssh.cjs'), 'console', '*', '--roster-file', roster, '--out=quiet'],
        {},
        project,
        '\ntarget',
      );
};

/** Starts a process that answers each line with a line. */
const start = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  project: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ending = '',
): Promise<Session> => {
  const child = spawn(process.execPath, args, {
    cwd: project.cwd,
    env: { ...process.env, ...project.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', chunk => {
    errors += String(chunk);
  });
  const closed = new Promise<number | null>(resolve => child.on('close', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    call: async words => {
      const begin = performance.now();
      child.stdin.write(`${words}${ending}\n`);
      const { done } = await lines.next();
      const took = performance.now() - begin;
      if (done === true) throw new Error(`${args.join(' ')} ended: ${errors.slice(-2000)}`);
      return took;
    },
    close: async () => {
      child.stdin.end();
      const code = await closed;
      if (code !== 0)
        throw new Error(`${args.join(' ')} ended with ${code}: ${errors.slice(-2000)}`);
    },
  };
};
