import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliResult, tsalt } from '../helpers/cli.ts';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type NetworkNamespace, openNetworkNamespace } from '../helpers/network-namespace.ts';
import { hasRedis, startRedis, type TestRedis } from '../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../helpers/queue/worker.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const missing = labMissing() ?? (hasRedis ? undefined : 'needs redis-server');
const segments = {
  dmz: { lab: createLab(26), bridge: 'tsalt26', address: '10.213.103.250/24' },
  office: { lab: createLab(27), bridge: 'tsalt27', address: '10.213.104.250/24' },
} as const;
type Segment = keyof typeof segments;
const hosts = { dmz: ['web1', 'web2'], office: ['db1', 'db2'] } as const;
const ids = [...hosts.dmz, ...hosts.office];

const files = {
  'states/site.sls': `#!jinja|yaml
/root/conf:
  file.managed:
    - contents: {{ grains.id }} {{ pillar.token }}
slow:
  cmd.run:
    - name: echo x >> /root/begun; sleep {{ pillar.seconds }}; echo x >> /root/done; touch /root/finished
    - creates: /root/finished
`,
  'states/fails.sls': "echo x >> /root/fails; 'false':\n  cmd.run\n",
  'pillar/top.sls': "base:\n  '*': [all]\n",
  'pillar/all.sls': 'token: secret-of-the-pillar-4713\n',
};

describe.skipIf(missing)(`two networks with a worker each${missing ? ` (${missing})` : ''}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-segments-'));
  const spaces: Record<string, NetworkNamespace> = {};
  const addresses: Record<string, string> = {};
  const workers: [Segment, TestWorker][] = [];
  let redis: TestRedis;
  let control = '';

  const queueOf = (space: string): string => `redis://${spaces[space]?.here}:${redis.port}`;
  const run = (...args: string[]): Promise<CliResult> =>
    tsalt(args, {
      cwd: dir,
      env: { HOME: join(dir, 'home'), NO_COLOR: '1', SSH_AUTH_SOCK: '' },
      ...(spaces.control ? { enter: spaces.control.enter } : {}),
    });
  const worker = async (segment: Segment): Promise<TestWorker> => {
    const { enter = [] } = spaces[segment] ?? {};
    const queue = queueOf(segment);
    const one = await startWorker({
      dir: join(dir, 'worker'),
      name: segment,
      queue,
      control,
      enter,
    });
    workers.push([segment, one]);
    return one;
  };
  const lines = async (id: string, name: string): Promise<number> => {
    const { lab } = segments[id.startsWith('web') ? 'dmz' : 'office'];
    return Number(await lab.sh(id, 'sh', '-c', `cat /root/${name} 2>/dev/null | wc -l`));
  };
  const all = (name: string): Promise<number[]> => Promise.all(ids.map(id => lines(id, name)));
  const isReached = (space: string, id: string): boolean => {
    const [program = '', ...enter] = spaces[space]?.enter ?? [];
    const open = `exec 3<>/dev/tcp/${addresses[id]}/22`;
    return spawnSync(program, [...enter, 'timeout', '2', 'bash', '-c', open]).status === 0;
  };

  beforeAll(async () => {
    for (const [segment, { lab }] of Object.entries(segments)) {
      await lab.down();
      Object.assign(addresses, await lab.up(...hosts[segment as Segment]));
    }
    for (const [at, name] of ['control', 'dmz', 'office'].entries())
      spaces[name] = openNetworkNamespace(`tsq-${name.slice(0, 3)}`, at + 1);
    for (const [segment, { bridge, address }] of Object.entries(segments))
      spaces[segment]?.join(bridge, address);
    redis = await startRedis('--bind', '0.0.0.0', '--protected-mode', 'no');
    mkdirSync(join(dir, 'home'), { mode: 0o700 });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(dir, path, '..'), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    control = (await run('workers', 'key')).stdout.trim();
    const [dmz, office] = await Promise.all(
      Object.keys(segments).map(name => workerKeyOf(join(dir, 'worker'), name)),
    );
    const known = Object.values(segments).map(({ lab }) =>
      execFileSync('cat', [lab.knownHosts], { encoding: 'utf8' }),
    );
    writeFileSync(join(dir, 'known_hosts'), known.join(''));
    writeFileSync(
      join(dir, 'tsalt.yaml'),
      `known_hosts_file: known_hosts
cachedir: cache
queue: ${queueOf('control')}
workers: {dmz: '${dmz}', office: '${office}'}
file_roots: {base: [states]}
pillar_roots: {base: [pillar]}
`,
    );
    const roster = Object.entries(segments).flatMap(([via, { lab }]) =>
      hosts[via as Segment].map(id => [
        id,
        { host: addresses[id], user: 'root', priv: lab.key, via },
      ]),
    );
    writeFileSync(join(dir, 'roster.yaml'), JSON.stringify(Object.fromEntries(roster)));
    await Promise.all([worker('dmz'), worker('office')]);
  }, 300_000);
  afterAll(async () => {
    await Promise.all(workers.map(([, one]) => one.end('SIGKILL')));
    for (const space of Object.values(spaces)) space.close();
    await redis?.close();
    for (const { lab } of Object.values(segments)) await lab.down();
    removeFolder(dir);
  });

  test('a worker reaches its own network only, the control node none', () => {
    const reached = Object.keys(spaces).map(space => [
      space,
      ids.filter(id => isReached(space, id)),
    ]);
    expect(Object.fromEntries(reached)).toEqual({
      control: [],
      dmz: hosts.dmz,
      office: hosts.office,
    });
  });

  test('one run changes the hosts of both, and a secret is in none of the messages', async () => {
    let heard = '';
    const monitor = await redis.client.monitor();
    monitor.on('monitor', (_time: string, args: string[]) => {
      heard += `${args.join(' ')}\n`;
    });
    const ran = await run(
      '*',
      'state.apply',
      'site',
      'pillar={seconds: 0}',
      '--out=json',
      '--static',
    );
    monitor.disconnect();
    expect({ code: ran.code, output: ran.code === 0 ? '' : ran.stdout + ran.stderr }).toEqual({
      code: 0,
      output: '',
    });
    expect(Object.keys(JSON.parse(ran.stdout) as object).toSorted()).toEqual(ids.toSorted());
    expect(heard.length).toBeGreaterThan(10_000);
    expect(heard).not.toContain('secret-of-the-pillar-4713');
    const { lab } = segments.office;
    expect(await lab.sh('db2', 'cat', '/root/conf')).toBe('db2 secret-of-the-pillar-4713\n');
    expect(await all('done')).toEqual([1, 1, 1, 1]);
  }, 120_000);

  test('--max-fail counts the hosts of both exactly', async () => {
    const { stdout, code } = await run(
      ...['*', 'state.apply', 'fails', '-b', '1', '--max-fail', '3', '--out=json', '--static'],
    );
    expect(code).toBe(20);
    expect(Object.keys(JSON.parse(stdout) as object)).toHaveLength(3);
    expect((await all('fails')).reduce((sum, count) => sum + count)).toBe(3);
  }, 120_000);

  test('a killed worker fails its hosts by that cause, not the others, and --rerun failed finishes them', async () => {
    for (const id of ids) {
      const { lab } = segments[id.startsWith('web') ? 'dmz' : 'office'];
      await lab.sh(id, 'rm', '-f', '/root/begun', '/root/done', '/root/finished');
    }
    const call = [
      'state.apply',
      'site',
      'pillar={seconds: 6}',
      'queue=True',
      '--out=json',
      '--static',
    ];
    const cut = run('*', ...call);
    let early = '';
    void cut.then(({ stdout, stderr }) => {
      early = stdout + stderr;
    });
    await expect
      .poll(async () => ({ begun: await all('begun'), early }), { timeout: 60_000 })
      .toEqual({ begun: [1, 1, 1, 1], early: '' });
    // The two start side by side, so either may be the first of the list.
    const [, killed] = workers.find(([segment]) => segment === 'dmz') ?? [];
    await killed?.end('SIGKILL');
    await worker('dmz');
    const { stdout, code } = await cut;
    const results = JSON.parse(stdout) as Record<string, unknown>;
    expect(code).toBe(70);
    for (const id of hosts.dmz) expect(results[id]).toContain('no message from it for 30 s');
    for (const id of hosts.office) expect(typeof results[id]).toBe('object');
    const rest = await run('*', ...call, '--rerun', 'failed');
    expect({ code: rest.code, output: rest.code === 0 ? '' : rest.stdout + rest.stderr }).toEqual({
      code: 0,
      output: '',
    });
    expect(Object.keys(JSON.parse(rest.stdout) as object).toSorted()).toEqual([...hosts.dmz]);
    expect(await all('begun')).toEqual([1, 1, 1, 1]);
    expect(await all('done')).toEqual([1, 1, 1, 1]);
  }, 180_000);
});
