import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { type EmbeddedServerOptions, newKey } from '../../helpers/embedded-server.ts';
import { scratch } from '../../helpers/hosts.ts';
import { type Project, startProject } from '../../helpers/project.ts';

// Each line of these tests is a whole run.
vi.setConfig({ testTimeout: 120_000 });

const projects: Project[] = [];
const { path: cache, remove } = scratch('tsalt-cache');
afterAll(remove);

/** A project of its own; what is built for hosts is built once for all of them. */
const project = async (server: Partial<EmbeddedServerOptions> = {}): Promise<Project> => {
  const made = await startProject({ server });
  made.write({ 'tsalt.yaml': `known_hosts_file: known_hosts\ncachedir: ${cache}\n` });
  projects.push(made);
  return made;
};
afterEach(async () => {
  for (const made of projects.splice(0)) await made.close();
});

test('a Saltfile sets options, found where Salt looks for it; the command line wins', {
  tags: 'slow',
}, async () => {
  const { write, run, runWith, dir } = await project();
  write({
    'home/.salt/Saltfile': 'salt-ssh: {output: json}\n',
    'named/Saltfile': 'salt-ssh:\n  output: txt\n  ssh_max_procs: 1\n  static: false\n',
  });
  const ping = ['web1', 'test.ping'];
  expect((await run(...ping)).stdout).toBe('{\n    "web1": true\n}\n');
  expect((await run('--saltfile', 'named/Saltfile', ...ping)).stdout).toBe('web1: True\n');
  const env = { SALT_SALTFILE: join(dir, 'named/Saltfile') };
  expect((await runWith({ env }, ...ping)).stdout).toBe('web1: True\n');
  expect((await runWith({ env }, '--out=raw', ...ping)).stdout).toBe("{'web1': True}\n");
  write({ Saltfile: 'salt-ssh:\n  roster_file: other.yaml\n  no_color: true\n' });
  expect(await run(...ping)).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('other.yaml'),
  });
});

test.each([
  ['salt-ssh:\n  static: true\n  outputt: json\n', "The Saltfile's 'outputt' is no option.", 3],
  ['salt-ssh:\n  ssh_passwd: secret\n', "The Saltfile's 'ssh_passwd' is no option.", 2],
  ['salt-ssh: {static: sometimes}\n', "The Saltfile's 'static' must be true or false", 1],
  ['- salt-ssh\n', 'A Saltfile is a mapping with options in salt-ssh.', 1],
  ['salt-ssh: {a: b\n', 'Saltfile', 1],
])('the Saltfile %j is told with its line', async (text, message, line) => {
  const { run, write } = await project();
  write({ Saltfile: text });
  const { code, stderr } = await run('web1', 'test.ping');
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
  expect(stderr).toMatch(new RegExp(`Saltfile:[${line}-${line + 1}]`));
  expect(stderr).not.toContain('secret');
});

test('a wrong value in the Saltfile is reported with the Saltfile', async () => {
  const { run, write } = await project();
  write({ Saltfile: 'salt-ssh: {ssh_options: [Foo=1]}\n' });
  expect((await run('web1', 'test.ping')).stderr).toMatch(/ssh option 'Foo=1' .*Saltfile\)/);
});

test.each([
  [['--passwd', 'hunter2'], 'There is no option --passwd.', '--passwd-from'],
  [['--priv-passwd=hunter2'], 'There is no option --priv-passwd.', '--priv-passwd-from'],
  [['--no-host-keys'], 'There is no option --no-host-keys.', 'ssh-keygen -R'],
  [['--python3-bin=/usr/bin/python3'], 'There is no option --python3-bin.', '--node-bin'],
  [['--extra-filerefs=salt://a'], 'There is no option --extra-filerefs.', 'when they need them'],
  [['-R', '%web'], 'There is no option -R.', '-C'],
])('%j is refused with what to do instead', async (words, message, hint) => {
  const { run } = await project();
  const { code, stderr } = await run(...words, 'web1', 'test.ping');
  expect({ code, stderr }).toMatchObject({
    code: 64,
    stderr: expect.stringContaining(`${message}\n`),
  });
  expect(stderr).toContain(hint);
  expect(stderr).not.toContain('hunter2');
});

test('--refresh, --refresh-cache and keepalive options are taken', { tags: 'slow' }, async () => {
  const { run } = await project();
  const words = ['--refresh', '--keepalive-interval', '5', '--keepalive-count-max', '2'];
  expect((await run(...words, 'web1', 'test.ping')).code).toBe(0);
  expect((await run('--refresh-cache', '--disable-keepalive', 'web1', 'test.ping')).code).toBe(0);
  const { code, stdout } = await run('--keepalive-interval', 'often', 'web1', 'test.ping');
  expect({ code, stdout }).toEqual({
    code: 64,
    stdout: expect.stringContaining('ServerAliveInterval'),
  });
});

test('--update-roster writes a host that answered, and never its password', {
  tags: 'slow',
}, async () => {
  const made = await project({ keys: [], password: 'hunter2' });
  const port = made.hosts.web1?.server.port ?? 0;
  made.roster('# hosts\nother: {host: 10.0.0.1}');
  const login = ['--passwd-from', 'env:PW', '--update-roster'];
  const wrong = await made.runWith(
    { env: { PW: 'wrong' } },
    ...login,
    `tester@127.0.0.1:${port}`,
    'test.ping',
  );
  expect(wrong.code).toBe(77);
  const roster = join(made.dir, 'roster.yaml');
  expect(readFileSync(roster, 'utf8')).toBe('# hosts\nother: {host: 10.0.0.1}');
  for (const _ of [1, 2]) {
    const { code, stdout } = await made.runWith(
      { env: { PW: 'hunter2' } },
      ...login,
      `tester@127.0.0.1:${port}`,
      'test.ping',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '127.0.0.1:\n    True\n' });
  }
  expect(readFileSync(roster, 'utf8')).toBe(
    `# hosts\nother: {host: 10.0.0.1}\n127.0.0.1:\n  host: 127.0.0.1\n  port: ${port}\n  user: tester\n`,
  );
  expect((await made.run('-H')).stdout).toContain('127.0.0.1');
});

test('--update-roster makes a private roster where there is none, and leaves one that others can write', async () => {
  const made = await project({ keys: [], password: 'hunter2' });
  const target = `tester@127.0.0.1:${made.hosts.web1?.server.port}`;
  const roster = join(made.dir, 'roster.yaml');
  const run = () =>
    made.runWith(
      { env: { PW: 'hunter2' } },
      ...['--passwd-from', 'env:PW', '--update-roster', target, 'test.ping'],
    );
  rmSync(roster);
  expect((await run()).code).toBe(0);
  expect(statSync(roster).mode & 0o777).toBe(0o600);
  const others = 'other: {host: 10.0.0.1}\n';
  writeFileSync(roster, others);
  chmodSync(roster, 0o666);
  const { code, stderr } = await run();
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: expect.stringMatching(/roster\.yaml.* writable|writ\w+ by/),
  });
  expect(readFileSync(roster, 'utf8')).toBe(others);
});

test('the password comes from a file, a program or a descriptor, and from nowhere else', {
  tags: 'slow',
}, async () => {
  const made = await project({ keys: [], password: 'hunter2' });
  const target = `tester@127.0.0.1:${made.hosts.web1?.server.port}`;
  made.write({ secret: 'hunter2\n', 'tell it': '#!/bin/sh\necho "hunter$1"\n' });
  chmodSync(join(made.dir, 'secret'), 0o600);
  chmodSync(join(made.dir, 'tell it'), 0o755);
  for (const source of ['file:secret', `command:'${made.dir}/tell it' 2`]) {
    const { code, stderr } = await made.run('--passwd-from', source, target, 'test.ping');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
  const handle = openSync(join(made.dir, 'secret'), 'r');
  const child = spawn(
    process.execPath,
    [`${packageRoot}dist/tsalt-ssh.cjs`, '--passwd-from', 'fd:3', target, 'test.ping'],
    {
      cwd: made.dir,
      env: { ...process.env, HOME: made.dir },
      stdio: ['ignore', 'ignore', 'ignore', handle],
    },
  );
  expect(await new Promise(resolve => child.once('exit', resolve))).toBe(0);
  closeSync(handle);
  const typed = await made.run('--passwd-from', 'hunter2', target, 'test.ping');
  expect(typed).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('does not say where the secret is'),
  });
  expect(typed.stderr).not.toContain('hunter2');
});

test.each(['env:PASSPHRASE', 'command:printf "open sesame"'])(
  'the passphrase of a key comes from %s',
  { tags: 'slow' },
  async source => {
    const key = newKey('ed25519', 'open sesame');
    const made = await project({ keys: [key.public] });
    writeFileSync(join(made.dir, 'locked'), key.private, { mode: 0o600 });
    const target = `tester@127.0.0.1:${made.hosts.web1?.server.port}`;
    const words = ['--priv', 'locked', '--priv-passwd-from', source, target, 'test.ping'];
    const env = { PASSPHRASE: 'open sesame' };
    const { code, stdout } = await made.runWith({ env }, ...words);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '127.0.0.1:\n    True\n' });
    const wrong = await made.runWith({ env: { PASSPHRASE: 'wrong' } }, ...words);
    expect(wrong.code).toBe(source.startsWith('env') ? 77 : 0);
    expect(wrong.stdout + wrong.stderr).not.toContain('sesame');
  },
);

test('--roster scan takes its target as a network, and tries the ports in their order', async () => {
  const made = await project();
  const port = made.hosts.web1?.server.port ?? 0;
  const words = ['--roster', 'scan', '--scan-ports', `9,${port}`, '--scan-timeout', '0.5'];
  const { code, stdout, stderr } = await made.run(
    ...words,
    '--user=tester',
    `--priv=${made.key}`,
    '127.0.0.1/32',
    'test.ping',
  );
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: '127.0.0.1:\n    True\n',
    stderr: '',
  });
  const wrong = await made.run('--roster=scan', '--scan-ports=ssh', '127.0.0.1', 'test.ping');
  expect(wrong).toMatchObject({ code: 64, stderr: expect.stringContaining('--scan-ports') });
});

test('ssh_pre_hook runs here before the connection; when it fails there is none', async () => {
  const made = await project();
  const hook = join(made.dir, 'sign key');
  writeFileSync(
    hook,
    `#!/bin/sh\necho "$@" >>'${made.dir}/hooked'\n[ "$1" != no ] || { echo not today >&2; exit 3; }\n`,
  );
  chmodSync(hook, 0o755);
  const entry = made.hosts.web1?.entry ?? '';
  made.roster(`${entry}  ssh_pre_hook: '"${hook}" web1 "two words"'\n`);
  expect((await made.run('web1', 'test.ping')).code).toBe(0);
  expect(readFileSync(join(made.dir, 'hooked'), 'utf8')).toBe('web1 two words\n');
  made.roster(`${entry}  ssh_pre_hook: ['${hook}', 'no']\n`);
  const before = made.hosts.web1?.server.counts.connections;
  const { code, stdout } = await made.run('web1', 'test.ping');
  expect({ code, stdout }).toEqual({
    code: 69,
    stdout: `web1:\n    web1: the ssh_pre_hook '${hook}' ended with status 3; no connection was made.\n    not today\n`,
  });
  expect(made.hosts.web1?.server.counts.connections).toBe(before);
  made.roster(`${entry}  ssh_pre_hook: '/nowhere/hook'\n`);
  expect((await made.run('web1', 'test.ping')).stdout).toContain('cannot be run (ENOENT)');
});

test('ssh_log_file is a log that others cannot read', async () => {
  const made = await project();
  const config = readFileSync(join(made.dir, 'tsalt.yaml'), 'utf8');
  made.write({ 'tsalt.yaml': `${config}ssh_log_file: ${made.dir}/ssh.log\n` });
  await made.run('--log-file-level=all', 'web1', 'test.ping');
  expect(statSync(join(made.dir, 'ssh.log')).mode & 0o777).toBe(0o600);
});

test('ssh_config_file is the configuration that is read; IdentityAgent none leaves the agent out', async () => {
  const asked: string[] = [];
  const agent = createServer(socket => {
    asked.push('asked');
    socket.destroy();
  });
  const made = await project();
  const socket = join(made.dir, 'agent');
  await new Promise<void>(resolve => agent.listen(socket, resolve));
  const port = made.hosts.web1?.server.port;
  const config = readFileSync(join(made.dir, 'tsalt.yaml'), 'utf8');
  const section = `Host alias\n  HostName 127.0.0.1\n  Port ${port}\n  User tester\n`;
  made.write({
    'tsalt.yaml': `${config}ssh_config_file: ssh/config\n`,
    'ssh/config': `${section}  IdentityFile ${made.key}\n  IdentityAgent none\n`,
    'home/.ssh/config': 'Host alias\n  Port 1\n',
  });
  made.roster('web1: {host: alias}\n');
  const env = { SSH_AUTH_SOCK: socket };
  const { code, stdout } = await made.runWith({ env }, 'web1', 'test.ping');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'web1:\n    True\n' });
  expect(asked).toEqual([]);
  made.write({ 'ssh/config': section });
  expect((await made.runWith({ env }, 'web1', 'test.ping')).code).toBe(77);
  expect(asked.length).toBeGreaterThan(0);
  agent.close();
});
