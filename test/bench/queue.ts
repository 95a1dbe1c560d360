import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { packSources } from '../../src/bundle/packed-sources.ts';
import { openKeys, publicKeyText } from '../../src/queue/keys.ts';
import { packageRoot } from '../helpers/cli.ts';
import { startRedis } from '../helpers/queue/redis.ts';
import { startWorker } from '../helpers/queue/worker.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { type Row, tableOf } from './measure.ts';

type Options = {
  readonly hosts: number;
  /** Numbers of workers, one run for each. */
  readonly workers: readonly number[];
  /** States of each host. */
  readonly states: number;
  /** Hosts at work at once, on all workers together. */
  readonly atOnce: number;
};

/**
 * Simulated hosts through queue workers: control node, Redis and workers are real, the hosts are
 * scripts in the workers' processes that find nothing to change.
 */
export const benchQueue = async (
  options: Options,
): Promise<{ table: string; rows: readonly Row[] }> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-bench-'));
  try {
    const program = await buildProgram(join(dir, 'program'));
    const rows: Row[] = [];
    for (const count of options.workers) rows.push(await measure(dir, program, count, options));
    return { table: tableOf(rows), rows };
  } finally {
    removeFolder(dir);
  }
};

/** The built program with simulated hosts in place of its transports. */
const buildProgram = async (folder: string): Promise<string> => {
  mkdirSync(folder);
  cpSync(join(packageRoot, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'src', 'package.json'])
    symlinkSync(join(packageRoot, name), join(folder, name));
  const simulated = {
    name: 'simulated-hosts',
    setup: ({ onResolve }: import('esbuild').PluginBuild): void =>
      onResolve({ filter: /\/transport\/open-transport\.ts$/ }, ({ importer }) =>
        importer.includes('/simulated/')
          ? undefined
          : { path: join(packageRoot, 'test/bench/simulated/open-transport.ts') },
      ),
  };
  const { bundleMain } = (await import(join(packageRoot, 'scripts/bundle-main.mjs'))) as {
    bundleMain: (options: object) => Promise<void>;
  };
  await bundleMain({
    outfile: join(folder, 'dist/main.cjs'),
    sourcesId: packSources(packageRoot).id,
    plugins: [simulated],
  });
  return join(folder, 'dist/tsalt-ssh.cjs');
};

const measure = async (
  dir: string,
  bin: string,
  count: number,
  { hosts, states, atOnce }: Options,
): Promise<Row> => {
  const folder = join(dir, `project-${count}`);
  const home = join(folder, 'home');
  mkdirSync(join(folder, 'states'), { recursive: true });
  mkdirSync(home, { mode: 0o700 });
  const redis = await startRedis();
  const env = { HOME: home, SSH_AUTH_SOCK: '', TSALT_QUEUE: redis.url };
  const control = (await run([bin, 'workers', 'key'], folder, env)).stdout.trim();
  // Each worker has a folder and a key of its own, as on machines of their own.
  const dirs = Array.from({ length: count }, (_, at) => join(folder, `worker-${at}`));
  const keys = await Promise.all(dirs.map(one => openKeys(join(one, 'sim'))));
  const listed = keys.map(({ publicKey }) => `'${publicKeyText(publicKey)}'`).join(', ');
  writeFileSync(
    join(folder, 'tsalt.yaml'),
    `cachedir: cache\nworkers: {sim: [${listed}]}\nroster_defaults: {via: sim, user: root}\n`,
  );
  const ids = Array.from({ length: hosts }, (_, at) => `h${at}: {host: 192.0.2.1}\n`);
  writeFileSync(join(folder, 'roster.yaml'), ids.join(''));
  const sls = Array.from({ length: states }, (_, at) => `state ${at}:\n  test.nop: []\n`);
  writeFileSync(join(folder, 'states/site.sls'), sls.join(''));
  const settings = { name: 'sim', queue: redis.url, control, bin };
  const args = ['--concurrency', String(Math.ceil(atOnce / count))];
  const runs = join(folder, 'runs');
  mkdirSync(runs);
  const started = await Promise.all(
    dirs.map(one => startWorker({ ...settings, dir: one, args, env: { SIMULATED_RUNS: runs } })),
  );
  const used = new Map<number, Usage>();
  const look = (): void => {
    for (const { process: worker } of started)
      for (const pid of familyOf(worker.pid ?? 0)) {
        const usage = usageOf(pid);
        if (usage) used.set(pid, usage);
      }
  };
  const jobBytes = jobBytesOf(redis.client);
  const timer = setInterval(() => {
    look();
    void jobBytes.look();
  }, 500);
  try {
    const before = await redisFigures(redis.client);
    const usage = join(folder, 'usage.json');
    const words = ['*', 'state.apply', 'site', '--out=quiet', `--max-procs=${atOnce}`];
    const began = performance.now();
    const code = await exitCodeOf(
      ['--require', join(packageRoot, 'test/bench/usage.cjs'), bin, ...words],
      folder,
      { ...env, USAGE_FILE: usage },
    );
    const seconds = (performance.now() - began) / 1000;
    look();
    const after = await redisFigures(redis.client);
    const own = JSON.parse(readFileSync(usage, 'utf8')) as { cpu: number; rss: number };
    const all = [...used.values()];
    return {
      name: `${hosts} hosts, ${count} workers`,
      'exit code': code,
      'ran once': ranOnce(runs),
      'wall s': seconds.toFixed(1),
      'hosts/s': Math.round(hosts / seconds),
      'control ms/host': (own.cpu / hosts).toFixed(1),
      'control MB': Math.round(own.rss / 1024),
      'workers ms/host': (all.reduce((sum, { cpu }) => sum + cpu, 0) / hosts).toFixed(1),
      'largest worker MB': Math.max(...all.map(({ rss }) => Math.round(rss / 1024))),
      'bytes/job': jobBytes.most(),
      'Redis requests/host': ((after.requests - before.requests) / hosts).toFixed(1),
      'Redis MB': Math.round(after.peak / 2 ** 20),
    };
  } finally {
    clearInterval(timer);
    await Promise.all(started.map(worker => worker.end('SIGKILL')));
    await redis.close();
  }
};

const execute = promisify(execFile);

/** How many hosts ran on one worker, once. */
const ranOnce = (folder: string): number => {
  const times = new Map<string, number>();
  for (const name of readdirSync(folder))
    for (const id of readFileSync(join(folder, name), 'utf8').trim().split('\n'))
      times.set(id, (times.get(id) ?? 0) + 1);
  return [...times.values()].filter(count => count === 1).length;
};

/** Runs Node with these words. @returns the exit code */
const exitCodeOf = (...given: Parameters<typeof run>): Promise<string> =>
  run(...given).then(
    () => '0',
    (error: { readonly code?: unknown }) => String(error.code),
  );

/** Runs Node with these words. Fails with what it printed if it ends with another code than 0. */
const run = (words: readonly string[], cwd: string, env: Readonly<Record<string, string>>) =>
  execute(process.execPath, words, { cwd, env: { ...process.env, ...env } });

/** The most bytes of a job that is in the queue when somebody looks. */
const jobBytesOf = (
  redis: Redis,
): { readonly look: () => Promise<void>; readonly most: () => number } => {
  let most = 0;
  return {
    look: async () => {
      const lists = ['wait', 'active'].map(name => redis.lrange(`tsalt:jobs-sim:${name}`, 0, 0));
      for (const id of (await Promise.all(lists)).flat())
        most = Math.max(most, await redis.hstrlen(`tsalt:jobs-sim:${id}`, 'data'));
    },
    most: () => most,
  };
};

/** Commands of the programs; scripts of BullMQ call the last four as well. */
const sent = [
  ...['eval', 'evalsha', 'bzpopmin', 'scan', 'mget', 'xread', 'expire', 'ping'],
  ...['xadd', 'set', 'xtrim', 'hget'],
];

/**
 * Requests that the programs sent for jobs, messages, files and signs of life, and the most bytes in
 * use. Redis counts what scripts of BullMQ call inside as well, which is subtracted: events (xadd); a
 * lock (set) when a job is taken or renewed, after each of which the job is removed from the stalled ones
 * once (srem); for each job that is removed from those at work (lrem), a look for old events (xtrim), and
 * two at itself (hget). A script that looks for stalled jobs twice a minute is too little to count.
 */
const redisFigures = async (
  redis: Pick<Redis, 'info' | 'xinfo'>,
): Promise<{ requests: number; peak: number }> => {
  const [commands, memory] = await Promise.all([redis.info('commandstats'), redis.info('memory')]);
  const callsOf = (name: string): number =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(commands)?.[1] ?? 0);
  const events = await redis.xinfo('STREAM', 'tsalt:jobs-sim:events').catch(() => []);
  const inside = (events as unknown[])[(events as unknown[]).indexOf('entries-added') + 1];
  const scripts = Number(inside ?? 0) + callsOf('srem') + 3 * callsOf('lrem');
  return {
    requests: sent.reduce((sum, name) => sum + callsOf(name), 0) - scripts,
    peak: Number(/used_memory_peak:(\d+)/.exec(memory)?.[1]),
  };
};

/** Milliseconds of a processor, and the most KB that were in memory. */
type Usage = { readonly cpu: number; readonly rss: number };

const usageOf = (pid: number): Usage | undefined => {
  try {
    const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0;
    // Linux counts in hundredths of a second for programs.
    return { cpu: (Number(user) + Number(system)) * 10, rss: Number(peak) };
  } catch {
    return undefined;
  }
};

const familyOf = (pid: number): number[] => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [
      pid,
      ...(children === '' ? [] : children.split(' ').flatMap(one => familyOf(Number(one)))),
    ];
  } catch {
    return [pid];
  }
};
