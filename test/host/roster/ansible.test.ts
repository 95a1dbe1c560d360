import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { toPlain } from '../../../src/data/values/value.ts';
import { readInventory } from '../../../src/roster/backends/inventory-source.ts';
import { hostVariables } from '../../../src/roster/backends/inventory-variables.ts';
import { folder, load } from '../../roster/helper.ts';

const hostsOf = async (source: string) => {
  const { hosts, groups } = await load([{ backend: 'ansible', source }]);
  return { hosts: new Map(hosts.map(({ host }) => [host.id, host])), groups };
};

const ini = `
# as inventories of the field look
localhost ansible_connection=local
mail.example.com:5522
[web]
web[01:20].example.com http_port=80 tags="['a', 'b']" ratio=1.5
db-[a:c:2].example.com  # every other one
[web:vars]
ntp_server=ntp.example.com
proxy = "http://x"
flags=[True, 1, "x"]
ansible_become=true
ansible_become_method=su
[targets]
host1 ansible_ssh_common_args='-o ProxyCommand="ssh -W %h:%p -q -p 2200 -l ops bastion.example.com" -o ServerAliveInterval=5'
host2 ansible_ssh_extra_args="-o StrictHostKeyChecking=no -o ControlPersist=60s"
host3 ansible_user="{{ login }}" login=bob ansible_host="{{ inventory_hostname }}.lan"
host4 ansible_host=::1
host5 ansible_ssh_private_key_file=keys/id ansible_host=10.0.0.5 ansible_port="2222" ansible_timeout=7
jumper:2222 ansible_host=192.0.2.50
[southeast:children]
web
targets
[usa:children]
southeast
northeast
[northeast]
[usa:vars]
ntp_server=usa.example.com
region=usa
`;

const yaml = `
all:
  hosts:
    plain: {ansible_host: 10.1.1.1}
  children:
    webservers:
      hosts:
        www[01:03:2].example.com:
        foo.example.com: {ansible_port: 2222, size: large}
      vars: {http_port: 80, who: web}
    dbservers:
      vars: {who: db, ansible_group_priority: 5}
      hosts:
        foo.example.com:
    east:
      children:
        webservers:
        dbservers:
      vars: {who: east}
    empty:
`;

test('ranges, ports behind names, jump commands and templates of an INI inventory', async () => {
  const dir = folder({ hosts: ini });
  const { hosts, groups } = await hostsOf(join(dir, 'hosts'));
  expect(hosts.size).toBe(30);
  expect(hosts.get('mail.example.com')).toMatchObject({ port: 5522 });
  expect(hosts.get('web20.example.com')).toMatchObject({
    sudo: true,
    become: 'su',
    minion_opts: { tags: ['a', 'b'], ntp_server: 'ntp.example.com', flags: [true, 1, 'x'] },
  });
  expect([...hosts.keys()].filter(id => id.startsWith('db-'))).toEqual([
    'db-a.example.com',
    'db-c.example.com',
  ]);
  expect(hosts.get('host1')).toMatchObject({
    proxy_jump: 'ops@bastion.example.com:2200',
    ssh_options: ['ServerAliveInterval=5'],
  });
  expect(hosts.get('host2')?.ssh_options).toBeUndefined();
  expect(hosts.get('host3')).toMatchObject({ user: 'bob', host: 'host3.lan' });
  expect(hosts.get('host5')).toMatchObject({
    priv: join(dir, 'keys/id'),
    port: 2222,
    timeout: 7,
  });
  expect(hosts.get('jumper')).toMatchObject({ host: '192.0.2.50', port: 2222 });
  expect(groups.usa?.split(',')).toHaveLength(28);
});

test('values of vaults are left out, and other tags do no harm', async () => {
  const vault = '!vault |\n            $ANSIBLE_VAULT;1.1;AES256\n            6631';
  const dir = folder({
    'inventory.yml': `all:\n  hosts:\n    a:\n      ansible_host: 10.0.0.1\n      ansible_password: ${vault}\n      token: ${vault}\n      raw: !unsafe '{{ x }}'\n      bad: !other x\n`,
    'good.yml': `all:\n  hosts:\n    a:\n      ansible_password: ${vault}\n      token: ${vault}\n      raw: !unsafe '{{ x }}'\n`,
  });
  const { hosts } = await hostsOf(join(dir, 'good.yml'));
  expect(hosts.get('a')).toMatchObject({ minion_opts: { raw: '{{ x }}' } });
  expect(hosts.get('a')?.passwd).toBeUndefined();
  await expect(hostsOf(join(dir, 'inventory.yml'))).rejects.toMatchObject({
    at: { line: 12, column: 12 },
  });
});

test('an unsafe text is taken as it is, and so is one that names it', async () => {
  const dir = folder({
    'hosts.yml': `all:
  hosts:
    a:
      ansible_password: !unsafe 'x{{ y }}'
      ansible_become_pass: '{{ part }}-{{ part }}'
      part: !unsafe "{% z"
      deep: [!unsafe '{{ q }}', {k: !unsafe 7}, 'a !unsafe b: !vault c']
`,
    'hosts.json': JSON.stringify({
      all: { hosts: ['a'] },
      _meta: {
        hostvars: {
          a: {
            ansible_password: { __ansible_unsafe: '{{ y }}' },
            token: { __ansible_vault: '$ANSIBLE_VAULT;1.1;AES256\n6631' },
          },
        },
      },
    }),
  });
  const yaml = (await hostsOf(join(dir, 'hosts.yml'))).hosts.get('a');
  expect(yaml?.passwd?.reveal()).toBe('x{{ y }}');
  expect(yaml?.sudo_passwd?.reveal()).toBe('{% z-{% z');
  expect(yaml?.minion_opts).toEqual({
    part: '{% z',
    deep: ['{{ q }}', { k: '7' }, 'a !unsafe b: !vault c'],
  });
  const json = (await hostsOf(join(dir, 'hosts.json'))).hosts.get('a');
  expect(json?.passwd?.reveal()).toBe('{{ y }}');
  expect(json?.minion_opts).toEqual({});
});

test('a template that only Ansible could evaluate is reported, not used as text', async () => {
  const dir = folder({ hosts: 'a ansible_user="{{ users | first }}"\n' });
  await expect(hostsOf(join(dir, 'hosts'))).rejects.toMatchObject({
    message: "The template of 'ansible_user' cannot be answered.",
    at: { line: 1 },
  });
  const round = folder({ hosts: 'a ansible_user="{{ b }}" b="{{ c }}" c="{{ b }}"\n' });
  await expect(hostsOf(join(round, 'hosts'))).rejects.toThrow('cannot be answered');
});

test('groups below groups in many ways, and hosts in many groups, are read in no time', async () => {
  const layers = Array.from({ length: 24 }, (_, at) =>
    ['a', 'b'].map(side => `[${side}${at}:children]\na${at + 1}\nb${at + 1}\n`).join(''),
  );
  const hosts = Array.from({ length: 300 }, (_, at) => `h${at} own=${at}\n`).join('');
  const flat = Array.from({ length: 100 }, (_, at) => `[g${at}]\n${hosts}[g${at}:vars]\nv=${at}\n`);
  const dir = folder({
    hosts: `${layers.join('')}[a24]\n${hosts}[b24:vars]\nside=b\n[a24:vars]\nside=a\n[a3:vars]\nside=above\n${flat.join('')}`,
  });
  const found = await hostsOf(join(dir, 'hosts'));
  expect(found.hosts.get('h299')?.minion_opts).toEqual({ own: 299, side: 'a', v: 99 });
});

test('an excessive range is refused with its position', async () => {
  const doubling = Array.from(
    { length: 9 },
    (_, at) => `v${at}='{{ v${at + 1} }}{{ v${at + 1} }}'`,
  );
  for (const [line, message] of [
    ['a[0:999].b[0:999]', "The range 'a[0:999].b[0:999]' of the inventory has more than"],
    ['a[0:99999]', "The range 'a[0:99999]' of the inventory has more than"],
    [`x ansible_user='{{ v0 }}{{ v0 }}' ${doubling.join(' ')} v9=y`, 'cannot be answered'],
  ])
    await expect(
      hostsOf(join(folder({ hosts: `[web]\n${line}\n` }), 'hosts')),
    ).rejects.toMatchObject({
      message: expect.stringContaining(message as string),
      at: { line: 2 },
    });
});

test('a folder is all inventories in it; a program without _meta is asked for each host', async () => {
  const dir = folder({
    'inv/01-hosts': '[web]\nw1\n',
    'inv/02-more.yml': 'web: {hosts: {w2: {}}}\n',
    'inv/10-dyn': `#!/bin/sh\nif [ "$1" = --list ]; then echo '{"dyn": ["d1"]}'; else echo '{"ansible_host": "10.9.9.9", "asked": "'"$2"'"}'; fi\n`,
    'inv/notes.txt': 'not an inventory',
    'inv/old.orig': 'w9',
    'inv/group_vars/web.yml': 'x: 1\n',
  });
  chmodSync(join(dir, 'inv/10-dyn'), 0o755);
  const { hosts, groups } = await hostsOf(join(dir, 'inv'));
  expect([...hosts.keys()]).toEqual(['w1', 'w2', 'd1']);
  expect(hosts.get('w2')?.minion_opts).toEqual({ x: 1 });
  expect(hosts.get('d1')).toMatchObject({ host: '10.9.9.9', minion_opts: { asked: 'd1' } });
  expect(groups).toMatchObject({ web: 'L@w1,w2', dyn: 'L@d1' });
});

test('the configuration of a plugin is read by ansible-inventory, whose failure is reported', async () => {
  const dir = folder({
    'bin/ansible-inventory': `#!/bin/sh\n[ "$ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED $1 $3" = "true -i --list" ] || exit 9\ncase $2 in *good*) echo '{"aws": {"hosts": ["i1"]}, "_meta": {"hostvars": {"i1": {"ansible_host": "10.2.2.2"}}}}';; *) echo no credentials >&2; exit 4;; esac\n`,
    'good.yml': 'plugin: amazon.aws.aws_ec2\nregions: [us-east-1]\n',
    'bad.yml': 'plugin: amazon.aws.aws_ec2\n',
  });
  chmodSync(join(dir, 'bin/ansible-inventory'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${join(dir, 'bin')}:${PATH}`;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  const { hosts } = await hostsOf(join(dir, 'good.yml'));
  expect(hosts.get('i1')).toMatchObject({ host: '10.2.2.2' });
  await expect(hostsOf(join(dir, 'bad.yml'))).rejects.toThrow(
    /plugin 'amazon.aws.aws_ec2' cannot be asked: .*exit code 4: no credentials/,
  );
});

const missing =
  spawnSync('ansible-inventory', ['--version']).status === 0 ? '' : ' (needs ansible-inventory)';

type Listed = Readonly<
  Record<
    string,
    {
      readonly hosts?: readonly string[];
      readonly hostvars?: Readonly<Record<string, object>>;
    }
  >
>;

test.skipIf(missing).each([
  ['hosts', ini],
  ['inventory.yml', yaml],
])(`%s: hosts, groups and variables are those that Ansible sees${missing}`, async (name, text) => {
  const dir = folder({
    [name]: text,
    'group_vars/web.yml': 'from_file: web\n',
    'group_vars/all/main.yml': 'from_file: all\nntp_server: all\n',
    'host_vars/host1.yml': 'login: file\n',
  });
  const listed = JSON.parse(
    execFileSync('ansible-inventory', ['-i', join(dir, name), '--list'], { encoding: 'utf8' }),
  ) as Listed;
  const inventory = await readInventory(join(dir, name));
  const varsOf = hostVariables(inventory);
  for (const host of inventory.hosts.keys())
    expect({ [host]: toPlain(varsOf(host)) }).toEqual({
      [host]: listed._meta?.hostvars?.[host] ?? {},
    });
  for (const [group, { hosts = [] }] of Object.entries(listed))
    if (!['_meta', 'all', 'ungrouped'].includes(group))
      expect({ [group]: [...(inventory.groups.get(group)?.hosts ?? [])].sort() }).toEqual({
        [group]: [...hosts].sort(),
      });
});
