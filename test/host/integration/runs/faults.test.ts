import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey } from '../../../helpers/embedded-server.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    server: { password: 'right' },
    files: {
      'states/one.sls':
        '{{ grains.root }}/made:\n  file.managed:\n    - contents: {{ grains.id }}\n',
    },
  });
});
afterAll(() => project.close());

const entry = (id: string): string => project.hosts[id]?.entry ?? '';

/** Runs with one broken host beside a good one; the good one must not notice. */
const beside = async (roster: string, options: { env?: Record<string, string> } = {}) => {
  project.roster(entry('web1') + roster);
  const { code, stdout, stderr } = await project.runWith(
    options,
    '*',
    'test.ping',
    '--static',
    '--out',
    'json',
  );
  const results = JSON.parse(stdout) as Record<string, unknown>;
  expect(results.web1, stdout + stderr).toBe(true);
  return { code, text: String(results.bad), stderr };
};

const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

test('a port where nobody listens', async () => {
  const port = await freePort();
  const { code, text } = await beside(
    `bad:\n  host: 127.0.0.1\n  port: ${port}\n  user: u\n  priv: ${project.key}\n`,
  );
  expect(code).toBe(68);
  expect(text).toContain(`127.0.0.1:${port}`);
  expect(text).toMatch(/refused/i);
});

test('a host that takes connections and never answers is given up in time', {
  tags: 'slow',
}, async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise(resolve => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const { code, text } = await beside(
    `bad:\n  host: 127.0.0.1\n  port: ${port}\n  user: u\n  priv: ${project.key}\n  timeout: 2\n`,
  );
  silent.close();
  expect(code).toBe(68);
  expect(text).toMatch(/ 2 s/);
});

test('a wrong password', async () => {
  const { code, text, stderr } = await beside(
    `bad:\n  host: 127.0.0.1\n  port: ${project.hosts.web2?.server.port}\n  user: tester\n  passwd: wrong-pass\n  identities_only: true\n`,
  );
  expect(code).toBe(77);
  expect(text).toMatch(/^bad: login as tester was refused\./);
  expect(text + stderr).not.toContain('wrong-pass');
});

test('the right password by the name of an environment variable', async () => {
  project.roster(
    `web2:\n  host: 127.0.0.1\n  port: ${project.hosts.web2?.server.port}\n  user: tester\n  identities_only: true\n  passwd: {env: WEB2_PASS}\n`,
  );
  const { code, stdout, stderr } = await project.runWith(
    { env: { WEB2_PASS: 'right' } },
    'web2',
    'test.ping',
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'web2:\n    True\n', stderr: '' });
});

test('an unknown host key stops before the login and shows its fingerprint', async () => {
  const other = await startProject();
  try {
    const { port, counts } = other.hosts.web1?.server ?? {
      port: 0,
      counts: { logins: [] as string[] },
    };
    const { code, text } = await beside(
      `bad:\n  host: 127.0.0.1\n  port: ${port}\n  user: tester\n  priv: ${other.key}\n`,
    );
    expect(code).toBe(76);
    expect(text).toMatch(/SHA256:/);
    expect(counts.logins).toEqual([]);
  } finally {
    await other.close();
  }
});

test('a changed host key is refused even with -i and --accept-new-host-keys', async () => {
  const { port } = project.hosts.web2?.server ?? { port: 0 };
  const known = project.hosts.web1?.server;
  project.write({
    known_hosts: `[127.0.0.1]:${known?.port} ${known?.hostKey}\n[127.0.0.1]:${port} ${newKey().public}\n`,
  });
  project.roster(entry('web2'));
  for (const option of ['-i', '--accept-new-host-keys']) {
    const { code, stdout, stderr } = await project.run(option, 'web2', 'test.ping');
    expect(code, stdout + stderr).toBe(76);
  }
  project.write({
    known_hosts: `[127.0.0.1]:${known?.port} ${known?.hostKey}\n[127.0.0.1]:${port} ${project.hosts.web2?.server.hostKey}\n`,
  });
});

test('a host that breaks off in the middle keeps what it had done and does not disturb the other', async () => {
  project.write({
    'states/long.sls':
      'first:\n  test.nop: []\nslow:\n  cmd.run:\n    - name: sleep 30\n    - require:\n      - test: first\n',
  });
  project.roster(entry('web1') + entry('web2'));
  const { code, stdout } = await project.runWith(
    {
      onStdout: text => {
        if (/"type":"state",.*test_\|-first_/.test(text)) project.hosts.web2?.server.cut();
      },
    },
    ...['web2', 'state.apply', 'long', '--out', 'ndjson'],
  );
  const events = stdout
    .trim()
    .split('\n')
    .map(
      line =>
        JSON.parse(line) as {
          type: string;
          result?: { states?: object; failure?: { kind: string } };
        },
    );
  const result = events.find(event => event.type === 'host')?.result;
  expect(code).toBe(68);
  expect(result?.failure?.kind).toBe('unreachable');
  expect(Object.keys(result?.states ?? {})).toEqual(['test_|-first_|-first_|-nop']);
});

test('a workspace that is not private is refused', async () => {
  const root = project.hosts.web2?.root ?? '';
  const dir = join(root, 'shared');
  mkdirSync(dir);
  chmodSync(dir, 0o777);
  writeFileSync(join(dir, 'planted.js'), 'process.exit(0)');
  project.roster(`${entry('web2')}  thin_dir: ${dir}\n`);
  const { code, stdout } = await project.run('web2', 'test.ping');
  expect(code).toBe(69);
  expect(stdout).toContain(dir);
  expect(readdirSync(dir)).toEqual(['planted.js']);
});

test('results stream: a finished state is reported while the next one runs', async () => {
  project.write({
    'states/stream.sls':
      'quick:\n  test.nop: []\nslow:\n  cmd.run:\n    - name: until [ -e {{ grains.root }}/heard ]; do sleep 0.1; done\n    - timeout: 60\n    - require:\n      - test: quick\n',
  });
  project.roster(entry('web1'));
  const { code, stdout } = await project.runWith(
    {
      onStdout: text => {
        if (/"type":"state",.*test_\|-quick_/.test(text))
          writeFileSync(join(project.hosts.web1?.root ?? '', 'heard'), '');
      },
    },
    ...['web1', 'state.apply', 'stream', '--out', 'ndjson'],
  );
  expect(code, stdout).toBe(0);
});
