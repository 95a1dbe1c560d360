import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { parseScanNetwork } from '../../../src/roster/backends/scan.ts';
import { Sdb } from '../../../src/sdb/sdb.ts';
import { folder, load } from '../../roster/helper.ts';

const hostsOf = async (backend: string, source: string) => {
  const roster = await load([{ backend, source }]);
  return { hosts: roster.hosts.map(({ host }) => host), groups: roster.groups };
};

test('dir has a file per host', async () => {
  const dir = folder({
    web1: 'user: root',
    'db1.yaml': 'host: 10.0.0.2',
    '.hidden': 'x: 1',
    'old~': 'x: 1',
  });
  const { hosts } = await hostsOf('dir', dir);
  expect(hosts).toMatchObject([
    { id: 'db1', host: '10.0.0.2' },
    { id: 'web1', host: 'web1', user: 'root' },
  ]);
});

test('a source without a backend is known by its looks', async () => {
  const dir = folder({
    'roster.d/a': 'host: x',
    'state.tfstate': '{"version": 4, "resources": []}',
  });
  expect((await hostsOf('', join(dir, 'roster.d'))).hosts).toMatchObject([{ id: 'a' }]);
  expect((await hostsOf('', join(dir, 'state.tfstate'))).hosts).toEqual([]);
});

test('an ansible INI inventory has hosts, groups, ranges and variables', async () => {
  const dir = folder({
    hosts: `
bastion ansible_host=1.2.3.4 ; not a comment of ours
[web]
web[01:03].x ansible_user=deploy http_port=80  # behind a comment
[db]
db1 ansible_port=2222 ansible_become=yes ansible_become_password='a b' motd="hello world"
[prod:children]
web
db
[prod:vars]
ansible_ssh_private_key_file=/keys/prod
env=prod
[web:vars]
env=web
`.replace(' ; not a comment of ours', ''),
    'group_vars/all.yml': 'region: eu',
    'host_vars/db1/main.yml': 'size: 3',
  });
  const { hosts, groups } = await hostsOf('ansible', join(dir, 'hosts'));
  expect(hosts.map(({ id }) => id)).toEqual(['bastion', 'web01.x', 'web02.x', 'web03.x', 'db1']);
  expect(hosts[0]).toMatchObject({ host: '1.2.3.4', minion_opts: { region: 'eu' } });
  expect(hosts[1]).toMatchObject({
    host: 'web01.x',
    user: 'deploy',
    priv: '/keys/prod',
    minion_opts: { http_port: 80, env: 'web', region: 'eu' },
  });
  expect(hosts[4]).toMatchObject({
    port: 2222,
    sudo: true,
    minion_opts: { motd: 'hello world', size: 3, env: 'prod' },
  });
  expect(hosts[4]?.sudo_passwd?.reveal()).toBe('a b');
  expect(groups).toMatchObject({
    prod: 'L@web01.x,web02.x,web03.x,db1',
    db: 'L@db1',
    all: 'L@bastion,web01.x,web02.x,web03.x,db1',
  });
});

test('an ansible YAML inventory is read with its nested groups', async () => {
  const dir = folder({
    'inventory.yml': `
all:
  vars: {ansible_user: root}
  children:
    web:
      hosts:
        web1: {ansible_host: 10.0.0.1}
        web2:
      vars: {ansible_ssh_common_args: '-o ProxyJump=bastion'}
    box: {hosts: {c1: {ansible_connection: docker, ansible_host: app}, me: {ansible_connection: local}}}
`,
  });
  const { hosts, groups } = await hostsOf('ansible', join(dir, 'inventory.yml'));
  expect(hosts).toMatchObject([
    { id: 'web1', host: '10.0.0.1', user: 'root', proxy_jump: 'bastion' },
    { id: 'web2', host: 'web2', proxy_jump: 'bastion' },
    { id: 'c1', host: 'docker:app', transport: 'container' },
    { id: 'me', transport: 'local' },
  ]);
  expect(groups.web).toBe('L@web1,web2');
});

test('an executable ansible inventory is asked with --list', async () => {
  const answer = {
    web: ['w1'],
    prod: { children: ['web'] },
    _meta: { hostvars: { w1: { ansible_host: '10.1.1.1' } } },
  };
  const dir = folder(
    { inv: `#!/bin/sh\n[ "$1" = --list ] && echo '${JSON.stringify(answer)}'\n` },
    0o755,
  );
  const { hosts, groups } = await hostsOf('ansible', join(dir, 'inv'));
  expect(hosts).toMatchObject([{ id: 'w1', host: '10.1.1.1' }]);
  expect(groups.prod).toBe('L@w1');
});

test('an ssh configuration lists its hosts; the first value counts', async () => {
  const dir = folder({
    config: `
Host web1 web2
  HostName %h.internal
  User deploy
Include more.d/*.conf
Host !web2 web*
  Port 2222
  IdentityFile "~/.ssh/id web"
Match exec "true"
  User nobody
Host *
  User fallback
  ProxyJump bastion
`,
    'more.d/db.conf': 'Host=db1\n  port = 2200\n',
  });
  const { hosts } = await hostsOf('sshconfig', join(dir, 'config'));
  expect(hosts).toMatchObject([
    { id: 'web1', host: 'web1.internal', user: 'deploy', port: 2222, proxy_jump: 'bastion' },
    { id: 'web2', host: 'web2.internal', user: 'deploy', port: 22 },
    { id: 'db1', host: 'db1', user: 'fallback', port: 2200 },
  ]);
  expect(hosts[0]?.priv).toMatch(/^\/.*\/\.ssh\/id web$/);
});

test('known_hosts lists its plain names', async () => {
  const dir = folder({
    known_hosts:
      'web1,10.0.0.1 ssh-ed25519 AAAA\n[db1]:2222 ssh-rsa AAAA\n|1|a=|b= ssh-rsa AAAA\n*.x ssh-rsa AAAA\n@revoked bad ssh-rsa AAAA\n# c\nweb1 ssh-rsa AAAA\n',
  });
  expect((await hostsOf('sshknownhosts', join(dir, 'known_hosts'))).hosts).toMatchObject([
    { id: 'web1', port: 22 },
    { id: 'db1', host: 'db1', port: 2222 },
  ]);
});

test('a terraform state has salt_host resources and the output salt_hosts', async () => {
  const state = {
    version: 4,
    outputs: {
      salt_hosts: { value: { out1: '10.0.0.9', out2: { host: '10.0.0.8', user: 'root' } } },
    },
    resources: [
      { type: 'aws_instance', instances: [{ attributes: { id: 'i-1' } }] },
      {
        type: 'salt_host',
        instances: [
          {
            attributes: {
              salt_id: 'tf1',
              host: '10.0.0.7',
              user: 'root',
              port: 2222,
              id: 'x',
              timeout: null,
            },
          },
        ],
      },
    ],
  };
  const dir = folder({ 'terraform.tfstate': JSON.stringify(state) });
  expect((await hostsOf('terraform', join(dir, 'terraform.tfstate'))).hosts).toMatchObject([
    { id: 'tf1', host: '10.0.0.7', port: 2222 },
    { id: 'out1', host: '10.0.0.9' },
    { id: 'out2', host: '10.0.0.8', user: 'root' },
  ]);
});

test.each([
  ['ssh_pre_hook', 'touch /tmp/x'],
  ['ssh_pre_flight', '/etc/shadow'],
  ['passwd', { command: ['touch', '/tmp/x'] }],
  ['sudo_passwd', { file: '/etc/shadow' }],
  ['passwd', 'sdb://osenv/TOKEN'],
  ['transport', 'local'],
  ['transport', 'chroot'],
  ['transport', 'container'],
  ['remote_port_forwards', ['8080:127.0.0.1:80']],
  ['ssh_options', ['-o GSSAPIDelegateCredentials=yes']],
  ['ssh_options', 'identityagent /run/other'],
])('a terraform state cannot reach this machine by %s', async (key, value) => {
  const outputs = { salt_hosts: { value: { out1: { host: '10.0.0.9', [key]: value } } } };
  const dir = folder({ 'terraform.tfstate': JSON.stringify({ version: 4, outputs }) });
  await expect(hostsOf('terraform', join(dir, 'terraform.tfstate'))).rejects.toThrow(
    `The roster entry 'out1' must not set '${key}' there: it would reach this machine: a program, a file, a store or a service of it.`,
  );
});

test('an address of sdb that came from outside stays text', async () => {
  const told = 'sdb://osenv/TOKEN';
  const outputs = { salt_hosts: { value: { out1: { host: 'a', minion_opts: { key: told } } } } };
  const dir = folder({
    'terraform.tfstate': JSON.stringify({ version: 4, outputs }),
    roster: `own1: {host: b, minion_opts: {key: '${told}'}}\n`,
    inventory: `in1 ansible_host=c key=${told}\n`,
  });
  const sources = [
    { backend: 'terraform', source: join(dir, 'terraform.tfstate') },
    { backend: 'ansible', source: join(dir, 'inventory') },
    { backend: 'flat', source: join(dir, 'roster') },
  ];
  const sdb = new Sdb({
    options: new Map([['osenv', new Map([['driver', 'env']])]]),
    dir,
    env: { TOKEN: 's3cret' },
    decrypt: async data => data,
  });
  const { hosts } = await load(sources, new Map(), { resolve: data => sdb.resolve(data) });
  expect(hosts.map(({ host }) => host.minion_opts.key)).toEqual([told, told, 's3cret']);
});

test('a script prints hosts as JSON, and its failure is reported with its last line', async () => {
  const dir = folder(
    {
      good: '#!/bin/sh\necho \'{"a": {"host": "10.0.0.1"}, "b": "10.0.0.2"}\'\n',
      bad: '#!/bin/sh\necho no database >&2\nexit 3\n',
      odd: '#!/bin/sh\necho nonsense\n',
    },
    0o755,
  );
  expect((await hostsOf('script', join(dir, 'good'))).hosts).toMatchObject([
    { id: 'a', host: '10.0.0.1' },
    { id: 'b', host: '10.0.0.2' },
  ]);
  await expect(load([{ backend: 'script', source: join(dir, 'bad') }])).rejects.toThrow(
    `The roster ${join(dir, 'bad')} returned no hosts: it ended with exit code 3: no database.`,
  );
  await expect(load([{ backend: 'script', source: join(dir, 'odd') }])).rejects.toThrow(
    `The roster ${join(dir, 'odd')} is not JSON:`,
  );
});

test('a script is named by a relative path, and one that cannot be started keeps nothing alive', async () => {
  const dir = folder({ good: '#!/bin/sh\necho \'{"a": "10.0.0.1"}\'\n' }, 0o755);
  const near = relative(process.cwd(), join(dir, 'good'));
  expect((await hostsOf('script', near)).hosts).toMatchObject([{ id: 'a', host: '10.0.0.1' }]);

  const broken = folder({ broken: '#!/nowhere/sh\n' }, 0o755);
  const timers = (): number =>
    process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length;
  const before = timers();
  const source = join(broken, 'broken');
  await expect(load([{ backend: 'script', source }])).rejects.toThrow('returned no hosts: spawn');
  expect(timers()).toBeLessThanOrEqual(before);
});

test('a TypeScript module returns hosts, from other files and asynchronously', async () => {
  const dir = folder({
    'hosts.ts': `import { net } from './net.ts';
      type Entry = { host: string };
      console.log('noise');
      export default async (): Promise<Record<string, Entry>> => ({ ts1: { host: net + '.1' } });`,
    'net.ts': 'export const net: string = "10.9.9";',
    'plain.mjs': 'export const hosts = { js1: "10.8.8.1" };',
    'broken.ts': 'export default {\n  a: ;\n};',
    'throws.ts': 'export default () => { throw new Error("no token"); };',
  });
  expect((await hostsOf('', join(dir, 'hosts.ts'))).hosts).toMatchObject([
    { id: 'ts1', host: '10.9.9.1' },
  ]);
  expect((await hostsOf('module', join(dir, 'plain.mjs'))).hosts).toMatchObject([{ id: 'js1' }]);
  await expect(load([{ backend: 'module', source: join(dir, 'broken.ts') }])).rejects.toMatchObject(
    {
      message: 'The roster module cannot be read: Unexpected ";".',
      at: { line: 2, column: 6 },
    },
  );
  await expect(load([{ backend: 'module', source: join(dir, 'throws.ts') }])).rejects.toThrow(
    'no token',
  );
});

test('a scan finds the addresses that answer', async () => {
  const server = createServer(socket => socket.destroy());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.2', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { hosts } = await hostsOf('scan', `127.0.0.0/29:${port}`);
  server.close();
  expect(hosts).toMatchObject([{ id: '127.0.0.2', host: '127.0.0.2', port }]);
  expect(parseScanNetwork('127.0.0.1/32:2222')).toEqual({ addresses: ['127.0.0.1'], port: 2222 });
});

test('networks are counted out and bounded', () => {
  expect(parseScanNetwork('10.1.2.3/30').addresses).toEqual(['10.1.2.1', '10.1.2.2']);
  expect(parseScanNetwork('10.1.2.3').addresses).toEqual(['10.1.2.3']);
  expect(() => parseScanNetwork('10.0.0.0/8')).toThrow(
    'The network 10.0.0.0/8 has 16777216 addresses.',
  );
  expect(() => parseScanNetwork('web1')).toThrow("'web1' is not a network like 10.0.0.0/24.");
});
