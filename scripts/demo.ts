/**
 * `npm run demo`: SSH servers inside this process, each a "host" with a scratch root of its own,
 * and the real command line with `roster.yaml` and `states/` against them, twice. Nothing
 * outside of the scratch folder is touched; it is removed at the end. The report of the first run
 * stays in a folder of its own.
 *
 * `npm run demo -- --workers`: the same through Redis and two queue workers, of which each reaches
 * the hosts of its segment. Needs the program redis-server.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newKey, startEmbeddedServer } from '../test/helpers/embedded-server.ts';
import { hasRedis, startRedis, type TestRedis } from '../test/helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../test/helpers/queue/worker.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'tsalt-demo-'));
const login = newKey();
const names = ['web1', 'web2', 'web3'];
const hasWorkers = process.argv.includes('--workers');
/** The segment of each host, with `--workers`. */
const segments: Readonly<Record<string, string>> = { web1: 'dmz', web2: 'office', web3: 'office' };

const startHost = async (id: string) => {
  const root = join(scratch, id);
  mkdirSync(root, { mode: 0o700 });
  return { id, root, server: await startEmbeddedServer({ home: root, keys: [login.public] }) };
};

const say = (text: string): void => {
  process.stdout.write(process.stdout.isTTY ? `\n\u001b[1m${text}\u001b[0m\n` : `\n${text}\n`);
};

// A reader that goes, as in `npm run demo | head`, does not keep the servers from being ended.
process.stdout.on('error', () => undefined);

const bin = join(packageRoot, 'dist/tsalt-ssh.cjs');
const env = {
  ...process.env,
  HOME: scratch,
  XDG_CACHE_HOME: join(scratch, 'cache'),
  // As root in somebody else's clone: who runs its scripts trusts its states as well.
  TSALT_TRUST_OWNER: String(statSync(packageRoot).uid),
};

const run = (args: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, '-c', scratch, ...args], {
      cwd: packageRoot,
      env,
      stdio: 'inherit',
    });
    child.on('error', reject);
    child.on('close', code => resolve(code ?? 1));
  });

/** The demo proves what it says: no state of the last run reports a change. */
const nothingChanged = (file: string): boolean => {
  const results = JSON.parse(readFileSync(file, 'utf8')) as Record<
    string,
    Record<string, { changes: object }>
  >;
  const changed = Object.values(results).flatMap(states =>
    Object.entries(states).filter(([, { changes }]) => Object.keys(changes).length > 0),
  );
  say(
    changed.length === 0
      ? `Nothing changed on ${Object.keys(results).length} hosts. The scratch folder is removed.`
      : `Changed again: ${changed.map(([tag]) => tag).join(', ')}`,
  );
  return changed.length === 0 && Object.keys(results).length === hosts.length;
};

type Queue = {
  /** Options of `tsalt.yaml`. */
  readonly options: object;
  readonly close: () => Promise<void>;
};

/** Starts Redis and a worker for each segment. */
const startQueue = async (): Promise<Queue> => {
  const redis: TestRedis = await startRedis();
  const workers: TestWorker[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(workers.map(worker => worker.end()));
    await redis.close();
  };
  try {
    const options = { cwd: scratch, env, encoding: 'utf8' } as const;
    const control = execFileSync(process.execPath, [bin, 'workers', 'key'], options).trim();
    const keys: Record<string, string> = {};
    for (const name of new Set(Object.values(segments))) {
      const dir = join(scratch, `worker-${name}`);
      keys[name] = await workerKeyOf(dir, name);
      workers.push(await startWorker({ dir, name, queue: redis.url, control }));
    }
    return { options: { queue: redis.url, workers: keys }, close };
  } catch (error) {
    await close();
    throw error;
  }
};

if (hasWorkers && !hasRedis) {
  process.stderr.write(
    'demo --workers needs /usr/bin/redis-server: apt-get install redis-server\n',
  );
  process.exit(69);
}
const hosts = await Promise.all(names.map(startHost));
const queue = hasWorkers ? await startQueue() : undefined;
let code = 1;
try {
  const key = join(scratch, 'id_demo');
  writeFileSync(key, login.private, { mode: 0o600 });
  const known = hosts.map(({ server }) => `[127.0.0.1]:${server.port} ${server.hostKey}\n`);
  writeFileSync(join(scratch, 'known_hosts'), known.join(''), { mode: 0o600 });
  const config = {
    roster_file: join(packageRoot, 'roster.yaml'),
    file_roots: { base: [join(packageRoot, 'states')] },
    pillar_roots: { base: [join(packageRoot, 'states/pillar')] },
    known_hosts_file: join(scratch, 'known_hosts'),
    demo: {
      key,
      hosts: hosts.map(({ id, root, server }) => ({
        ...{ id, root, port: server.port },
        ...(queue ? { via: segments[id] } : {}),
      })),
    },
    ...queue?.options,
  };
  writeFileSync(join(scratch, 'tsalt.yaml'), JSON.stringify(config), { mode: 0o600 });
  const report = join(mkdtempSync(join(tmpdir(), 'tsalt-demo-report-')), 'run.html');
  if (queue) {
    say('Two workers take jobs from Redis, encrypted: tsalt-ssh workers');
    await run(['workers']);
  }
  say(
    `${hosts.length} SSH servers on loopback: tsalt-ssh 'web*' state.apply --report html=run.html`,
  );
  code = await run(['web*', 'state.apply', '--report', `html=${report}`]);
  say(`The report for a browser: ${report}`);
  if (code === 0) {
    say(
      "Once more, to see that nothing changes: tsalt-ssh 'web*' state.apply --state-output=terse",
    );
    const ledger = join(scratch, 'second.json');
    code = await run(['web*', 'state.apply', '--state-output=terse', '--static']);
    if (code === 0)
      code = await run(['web*', 'state.apply', '--static', '--out=json', '--out-file', ledger]);
    if (code === 0) code = nothingChanged(ledger) ? 0 : 1;
  }
} finally {
  await queue?.close();
  await Promise.all(hosts.map(({ server }) => server.close()));
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = code;
