// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, type ProjectHost, startProject } from '../../../helpers/project.ts';

const ownGrains = {
  'states/_grains/place.ts':
    "import { basename } from 'node:path';\nexport const place = () => ({ place: basename(process.env.HOME ?? '') });\n",
};

let project: Project;
let down: Server;
let connections = 0;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2', 'web3', 'web4'],
    files: {
      ...ownGrains,
      'states/_modules/sometimes.ts': `import { __grains__ } from 'tsalt-ssh/module';
export const fails = (id: string) => { if (__grains__.id === id) throw new Error('it failed'); return true; };
`,
    },
  });
  down = createServer(socket => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>(resolve => down.listen(0, '127.0.0.1', resolve));
  const { port } = down.address() as { port: number };
  const entries = Object.values(project.hosts).map(({ entry }, at) =>
    entry.replace(/\}\n$/, `, role: ${at < 2 ? 'web' : 'spare'}}\n`),
  );
  project.roster(`${entries.join('')}db1:\n  host: 127.0.0.1\n  port: ${port}\n  user: tester\n`);
});
afterAll(async () => {
  down.close();
  await project.close();
});

/** Ids in the order of the alphabet: results come in the order in which hosts end. */
const idsOf = (stdout: string): string[] => Object.keys(JSON.parse(stdout) as object).toSorted();
const json = ['--out=json', '--static'];

test('a host that the id rules out is not contacted, and cannot fail the run', async () => {
  connections = 0;
  const { code, stdout } = await project.run('-C', 'web* and G@place:web1', 'test.ping', ...json);
  expect({ code, ids: idsOf(stdout) }).toEqual({ code: 0, ids: ['web1'] });
  expect(connections).toBe(0);
});

test('ssh_pre_flight runs on targets only, before their states, and earlier where Node depends on it', async () => {
  const prepared = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      ...ownGrains,
      'pre.sh': `echo prepared >> $HOME/prepared; ln -sf ${process.execPath} $HOME/own-node\n`,
      'states/site.sls': 'cat $HOME/prepared:\n  cmd.run\n',
    },
  });
  const { web1, web2 } = prepared.hosts as Record<'web1' | 'web2', ProjectHost>;
  const hasRun = ({ root }: ProjectHost): boolean => existsSync(join(root, 'prepared'));
  const roster = (more: (host: ProjectHost) => string): void =>
    prepared.roster(
      [web1, web2]
        .map(host => `${host.entry}  ssh_pre_flight: ${prepared.dir}/pre.sh\n${more(host)}`)
        .join(''),
    );
  const call = ['-G', 'place:web1', 'state.apply', 'site', ...json];
  try {
    roster(() => '');
    // Without the artifact, and with it after another script is to run.
    for (const script of ['', 'exit 0\n']) {
      prepared.write({
        'pre.sh': `${readFileSync(join(prepared.dir, 'pre.sh'), 'utf8')}${script}`,
      });
      rmSync(join(web1.root, 'prepared'), { force: true });
      const { code, stdout, stderr } = await prepared.run(...call);
      expect({ code, stderr, ids: idsOf(stdout) }).toEqual({ code: 0, stderr: '', ids: ['web1'] });
      expect([hasRun(web1), hasRun(web2)]).toEqual([true, false]);
    }
    roster(({ root }) => `  node_bin: ${root}/own-node\n`);
    rmSync(join(web1.root, 'own-node'));
    const { code, stderr } = await prepared.run(...call, '--pre-flight');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(hasRun(web2)).toBe(true);
  } finally {
    await prepared.close();
  }
});

test('a host that is not a target is asked for its grains and gets no artifact', async () => {
  const asked = await startProject({ hosts: ['web1', 'web2'], files: ownGrains });
  const { web1, web2 } = asked.hosts as Record<'web1' | 'web2', ProjectHost>;
  /** What the host got of a run: connections, commands, and thousands of bytes. */
  const cost = async (host: ProjectHost, ...args: string[]) => {
    const before = { ...host.server.counts };
    const { code, stdout, stderr } = await asked.run(...args, ...json);
    expect({ code, stderr, ids: idsOf(stdout) }).toEqual({ code: 0, stderr: '', ids: ['web1'] });
    const { connections, channels, bytes } = host.server.counts;
    return {
      connections: connections - before.connections,
      commands: channels - before.channels,
      thousands: Math.ceil((bytes - before.bytes) / 1000),
    };
  };
  const target = ['-G', 'place:web1', 'test.ping'];
  const program = {
    connections: 1,
    commands: 1,
    thousands: expect.toSatisfy(k => k > 20 && k < 80),
  };
  const nothing = { connections: 1, commands: 1, thousands: 0 };
  try {
    expect(await cost(web2, ...target)).toEqual(program);
    expect(await cost(web2, ...target)).toEqual(nothing);
    const sizes = readdirSync(join(web2.root, '.cache/tsalt-ssh'))
      .filter(name => name.endsWith('.js'))
      .map(name => statSync(join(web2.root, '.cache/tsalt-ssh', name)).size);
    expect(sizes).toEqual([expect.toSatisfy(bytes => bytes < 300_000)]);
    // A command of the shell runs on targets only, too.
    await cost(web2, '-r', '-G', 'place:web1', 'echo hello');
    // The target has the artifact since the first run: one command, as for a host that is known.
    expect(await cost(web1, ...target)).toMatchObject({
      connections: 1,
      commands: 1,
      thousands: 1,
    });
    const wiped = await cost(web1, ...target, '--rand-thin-dir');
    expect(wiped).toMatchObject({ connections: 1, commands: 2 });
    expect(wiped.thousands).toBeGreaterThan(400);
  } finally {
    await asked.close();
  }
});

test('a pillar or a grains module that calls functions of the host gets the whole runtime', async () => {
  const asked = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'pillar/top.sls': "base: {'*': [place]}\n",
      'pillar/place.sls': "#!jinja|yaml\nplace: {{ salt['cmd.run']('basename $HOME') }}\n",
      'states/_grains/home.ts':
        "import { __salt__ } from 'tsalt-ssh/module';\nexport const home = async () => ({ home: await __salt__['cmd.run']('basename $HOME') });\n",
    },
  });
  try {
    for (const target of ['I@place:web2', 'G@home:web2']) {
      const { code, stdout, stderr } = await asked.run('-C', target, 'test.ping', ...json);
      expect({ code, stderr, ids: idsOf(stdout) }).toEqual({ code: 0, stderr: '', ids: ['web2'] });
    }
  } finally {
    await asked.close();
  }
});

test('grains of the roster decide without a connection', async () => {
  connections = 0;
  const { code, stdout } = await project.run('-C', 'G@role:spare and web*', 'test.ping', ...json);
  expect({ code, ids: idsOf(stdout) }).toEqual({ code: 0, ids: ['web3', 'web4'] });
  const grain = await project.run('-G', 'role:web', '--exclude', 'db*', 'test.ping', ...json);
  expect(idsOf(grain.stdout)).toEqual(['web1', 'web2']);
  expect(connections).toBe(0);
});

test('a host that may be a target and cannot be asked fails the run', async () => {
  const { code, stderr, stdout } = await project.run('-G', 'place:web2', 'test.ping', ...json);
  expect(code).toBe(68);
  expect(stdout + stderr).toContain('db1');
});

test('--limit and --exclude narrow the target', async () => {
  const { stdout } = await project.run(
    '*',
    '--limit',
    'web*',
    '--exclude',
    'web2 or web3',
    'test.ping',
    ...json,
  );
  expect(idsOf(stdout)).toEqual(['web1', 'web4']);
  project.write({ some: '# of the last run\nweb4\n\nweb2\n' });
  const file = await project.run(
    'web*',
    '--limit',
    `@${join(project.dir, 'some')}`,
    'test.ping',
    ...json,
  );
  expect(idsOf(file.stdout)).toEqual(['web2', 'web4']);
  const missing = await project.run('web*', '--limit', '@nowhere', 'test.ping');
  expect(missing).toMatchObject({ code: 64, stderr: expect.stringContaining('The file nowhere') });
});

test('hosts lists what matches, by the grains of the last run where they decide', async () => {
  expect((await project.run('hosts', 'web* and not web2')).stdout).toBe('web1\nweb3\nweb4\n');
  const { stdout } = await project.run('hosts', '-G', 'place:web1');
  expect(stdout).toBe(
    'web1  by the grains of its last run\ndb1   not known: its grains or its pillar decide (--ask-hosts asks it)\n',
  );
  const asked = await project.run('hosts', 'web* and G@place:web1', '--ask-hosts', '-v');
  expect(asked.stdout).toMatch(/^web1 {2}tester@127\.0\.0\.1:\d+\n$/);
  expect((await project.run('hosts', 'nobody')).code).toBe(67);
  expect((await project.run('hosts', 'web* and', '-v')).code).toBe(64);
  expect(idsOf((await project.run('-H', 'web1', '--out=json')).stdout)).toHaveLength(1);
});

test('batches count the hosts that match', async () => {
  // The first run may have to build the programs for hosts.
  expect((await project.run('web*', 'test.ping', ...json)).code).toBe(0);
  const begun = Date.now();
  const { code, stdout } = await project.run(
    '-C',
    'web* and G@place:web[34]',
    '-b',
    '1',
    '--batch-wait',
    '8',
    'test.ping',
    ...json,
  );
  expect({ code, ids: idsOf(stdout) }).toEqual({ code: 0, ids: ['web3', 'web4'] });
  // One wait, not three.
  expect(Date.now() - begun).toBeLessThan(22_000);
});

test.each(['1', '25%'])(
  '--max-fail %s starts nothing else, and names what was not started',
  async most => {
    const { code, stderr, stdout } = await project.run(
      'web*',
      '-b',
      '1',
      '--order',
      'reverse',
      '--max-fail',
      most,
      'sometimes.fails',
      'web3',
      '--out=ndjson',
    );
    expect(code).toBe(20);
    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string });
    expect(events.find(({ type }) => type === 'not-started')).toMatchObject({
      hosts: ['web2', 'web1'],
      reason: '1 host failed',
    });
    expect(stderr + stdout).toContain('Not started, since 1 host failed: web2, web1.');
  },
);

test('--batch-check stops the rollout where it fails', async () => {
  const check = (id: string) =>
    project.run(
      'web*',
      '-b',
      '2,1',
      '--batch-check',
      `sometimes.fails ${id}`,
      'test.ping',
      ...json,
    );
  const failed = await check('web2');
  expect(failed.code).toBe(20);
  expect(failed.stderr).toContain('The batch check sometimes.fails failed on web2.');
  expect(idsOf(failed.stdout)).toEqual(['web1', 'web2']);
  expect((await check('nobody')).code).toBe(0);
});

test.each([
  [['-b', '1', '--batch-ask'], '--batch-ask needs a terminal'],
  [['--batch-check', 'test.ping'], '--batch-check needs batches'],
  [['-b', '1,x'], 'must be a number of hosts or a percentage'],
  [['-b', '0'], 'must be a number of hosts or a percentage'],
  [['-b', '2', '--batch-mode', 'sliding', '--batch-check', 'test.ping'], 'not separate'],
  [['-b', '2', '--batch-check', 'ping'], 'a function and its arguments'],
  [['--max-fail', '101%'], 'must be a number of hosts or a percentage'],
  [['--order', 'size'], "has no value 'size'"],
])('%j is refused before any connection', async (options, message) => {
  connections = 0;
  const { code, stderr } = await project.run('*', ...options, 'test.ping');
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
  expect(connections).toBe(0);
});

test('--batch-ask goes on after yes only', async () => {
  const words = [
    process.execPath,
    join(packageRoot, 'dist/tsalt-ssh.cjs'),
    ...['-c', project.dir, 'web*', '-b', '1', '--batch-ask', 'test.ping'],
  ];
  const line = words.map(word => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: join(project.dir, 'home'), TERM: 'xterm' },
  });
  let text = '';
  const answers = ['y\n', 'n\n'];
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    // Input before a question does not answer it.
    if (text.split('Go on? [y/N]').length - 1 === 3 - answers.length)
      child.stdin.write(answers.shift() ?? '');
  });
  await once(child, 'exit');
  expect(text).toContain('The next batch is web2. Go on?');
  expect(text).toContain('Not started, since the answer was no: web3, web4.');
});
