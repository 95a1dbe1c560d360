import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TsaltError } from '../../../src/protocol/error.ts';
import { isAddress, isId, isUser, readAddress } from '../../../src/roster/address.ts';
import { flatError, flatHosts, folder, load } from '../../roster/helper.ts';

test('text alone is the host, and nothing makes the id the host', async () => {
  const hosts = await flatHosts('web1: 10.0.0.1\nweb2.example.com:\n');
  expect(hosts.get('web1')).toEqual({
    id: 'web1',
    host: '10.0.0.1',
    user: userInfo().username,
    port: 22,
    unsaid: ['user', 'port'],
    timeout: 30,
    minion_opts: {},
    grains: {},
  });
  expect(hosts.get('web2.example.com')?.host).toBe('web2.example.com');
});

test('every roster key arrives with its type', async () => {
  const hosts = await flatHosts(`
db1:
  host: db1.internal
  user: deploy
  port: '2222'
  priv: keys/id
  identities_only: true
  sudo: true
  sudo_user: postgres
  tty: true
  timeout: 2.5
  minion_opts: {test: true}
  grains: {role: db}
  thin_dir: /opt/tsalt
  node_bin: /opt/node/bin/node
  host_key: SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
  set_path: /opt/bin:$PATH
  proxy_jump: ops@bastion:2200,inner
  transport: openssh
  ssh_options: ['-o serveraliveinterval 5', Compression=yes]
  ssh_pre_flight: ~/prepare.sh
  ssh_pre_flight_args: [a, 1]
  remote_port_forwards: ['8080:localhost:80']
  disable_wipe: true
  cmd_umask: 0027
  mine_functions: {test.ping: []}
`);
  const { priv, ...rest } = hosts.get('db1')!;
  expect(priv).toMatch(/^\/.*\/keys\/id$/);
  expect(rest).toEqual({
    id: 'db1',
    host: 'db1.internal',
    user: 'deploy',
    port: 2222,
    identities_only: true,
    sudo: true,
    sudo_user: 'postgres',
    tty: true,
    timeout: 2.5,
    minion_opts: { test: true, mine_functions: { 'test.ping': [] } },
    grains: { role: 'db' },
    thin_dir: '/opt/tsalt',
    node_bin: '/opt/node/bin/node',
    host_key: 'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
    set_path: '/opt/bin:$PATH',
    proxy_jump: 'ops@bastion:2200,inner',
    transport: 'openssh',
    ssh_options: ['ServerAliveInterval=5', 'Compression=yes'],
    ssh_pre_flight: join(homedir(), 'prepare.sh'),
    ssh_pre_flight_args: ['a', '1'],
    remote_port_forwards: ['8080:localhost:80'],
    disable_wipe: true,
    cmd_umask: '0027',
  });
});

test('a password is out of sight at once', async () => {
  const hosts = await flatHosts('a: {passwd: hunter2, sudo_passwd: 1234}');
  expect(JSON.stringify(hosts.get('a'))).not.toMatch(/hunter2|1234/);
  expect(hosts.get('a')?.passwd?.reveal()).toBe('hunter2');
  expect(hosts.get('a')?.sudo_passwd?.reveal()).toBe('1234');
});

test('a template is rendered and plain YAML is not', async () => {
  expect((await flatHosts('a: {{ net }}.1')).get('a')?.host).toBe('10.0.0.1');
});

test('defaults fill in and grains are merged', async () => {
  const defaults = new Map<string, string | Map<string, string>>([
    ['user', 'root'],
    ['grains', new Map([['dc', 'x']])],
  ]);
  const hosts = await flatHosts('a: {grains: {role: web}}\nb: {user: me}', defaults as never);
  expect(hosts.get('a')).toMatchObject({ user: 'root', grains: { dc: 'x', role: 'web' } });
  expect(hosts.get('b')?.user).toBe('me');
});

test('several rosters are merged by id and a later one wins by key', async () => {
  const dir = folder({
    one: 'a: {host: 1.1.1.1, user: me}\nb: b',
    two: 'a: {host: 2.2.2.2}\nc: c',
  });
  const { hosts } = await load([
    { backend: 'flat', source: join(dir, 'one') },
    { backend: 'flat', source: join(dir, 'two') },
  ]);
  expect(hosts.map(({ host }) => [host.id, host.host, host.user === 'me'])).toEqual([
    ['a', '2.2.2.2', true],
    ['b', 'b', false],
    ['c', 'c', false],
  ]);
});

test.each([
  ['a: {hots: x}', "The roster entry 'a' has an unknown key 'hots'.", 1, "Did you mean 'host'?"],
  [
    'a:\n  host: x\n  prot: 1',
    "The roster entry 'a' has an unknown key 'prot'.",
    3,
    "Did you mean 'port'?",
  ],
  [
    'a:\n  port: 70000',
    "The value of 'port' must be a port from 1 to 65535, not 70000.",
    2,
    undefined,
  ],
  ['a:\n  sudo: maybe', "The value of 'sudo' must be true or false, not 'maybe'.", 2, undefined],
  ['a: [x]', "The roster entry 'a' must be a host name or a mapping, not a list.", 1, undefined],
  ['- a', 'The roster must be a mapping of ids to hosts, not a list.', 1, undefined],
  [
    'a: -oProxyCommand=id',
    'The host "-oProxyCommand=id" of \'a\' is neither a host name nor an address.',
    1,
    undefined,
  ],
  [
    'a:\n  host: x\n  user: -oProxyCommand=id',
    "The value of 'user' must be a login name, not '-oProxyCommand=id'.",
    3,
    undefined,
  ],
  ['a: "x;id"', 'The host "x;id" of \'a\' is neither a host name nor an address.', 1, undefined],
  [
    'a:\n  proxy_jump: -oProxyCommand=id',
    "The value of 'proxy_jump' must be hosts like 'user@host:port', with commas between, not '-oProxyCommand=id'.",
    2,
    undefined,
  ],
  [
    'a:\n  ssh_options: [ProxyCommand=id]',
    "The ssh option 'ProxyCommand=id' is not among the ssh options that may be set.",
    2,
    'It would run a command here; use proxy_jump, or set it in ~/.ssh/config.',
  ],
  [
    'a:\n  ssh_options: [Compresion=yes]',
    "The ssh option 'Compresion=yes' is not among the ssh options that may be set.",
    2,
    "Did you mean 'Compression'?",
  ],
  [
    'a:\n  minion_opts:\n    file_roots: {}',
    "minion_opts must not set 'file_roots'.",
    3,
    'The control node decides about it: set it in tsalt.yaml.',
  ],
  [
    'a:\n  passwd: {envv: X}',
    "The value of 'passwd' must be text or one of {env: NAME}, {file: PATH}, {fd: NUMBER}, {command: [PROGRAM, ARGUMENT]}, {prompt: true}, or an address sdb://PROFILE/KEY.",
    2,
    undefined,
  ],
  [
    'a:\n  thin_dir: tmp',
    "The value of 'thin_dir' must be a path on the host, absolute or in ~/, not 'tmp'.",
    2,
    undefined,
  ],
  [
    'a:\n  remote_port_forwards: [x]',
    "The tunnel 'x' is not of the form PORT:HOST:HOSTPORT or BIND:PORT:HOST:HOSTPORT.",
    2,
    undefined,
  ],
  [
    'a:\n  transport: telnet',
    "The value of 'transport' must be one of ssh2, openssh, local, chroot, container, not 'telnet'.",
    2,
    undefined,
  ],
  [
    '"a/../b": x',
    'The id "a/../b" has characters that an id must not have: "/" (U+002F).',
    1,
    'An id is made of letters, digits and . _ - @ : +, and starts with a letter or digit.',
  ],
])('%j is refused', async (text, message, line, hint) => {
  expect(await flatError(text)).toEqual({ message, line, hint });
});

test('a secret is not shown in the error about it', async () => {
  const { message } = await flatError('a:\n  passwd: [hunter2]');
  expect(message).not.toContain('hunter2');
});

test('a missing roster and an unknown backend are named', async () => {
  await expect(load([{ backend: 'flat', source: '/nowhere/roster' }])).rejects.toThrow(
    'There is no roster /nowhere/roster.',
  );
  await expect(load([{ backend: 'ansibel', source: 'x' }])).rejects.toMatchObject({
    message: "There is no roster backend 'ansibel'.",
    hint: "Did you mean 'ansible'?",
  });
});

test('any text is a roster or a TsaltError, and never reaches a prototype', async () => {
  const word = fc.constantFrom(
    'a',
    'host',
    'user',
    '__proto__',
    'constructor',
    '{',
    '}',
    ': ',
    '\n',
    '  ',
    '- ',
    '"',
    "'",
    '&x',
    '*x',
    '!!js',
    '\t',
    '#',
    '0x1',
    '~',
    '\u0000',
    '|',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(word, fc.string({ maxLength: 4 })), { maxLength: 20 }),
      async parts => {
        const files = folder({ 'roster.yaml': parts.join('').replaceAll('{{', '{') });
        await load([{ backend: 'flat', source: join(files, 'roster.yaml') }]).then(
          ({ hosts }) => {
            // A wrong entry beside others has its error, and is not run.
            for (const { host, fault } of hosts)
              if (fault) expect(fault).toBeInstanceOf(TsaltError);
              else expect(isId(host.id) && isAddress(host.host)).toBe(true);
          },
          (error: unknown) => expect(error).toBeInstanceOf(TsaltError),
        );
        expect(({} as Record<string, unknown>).host).toBeUndefined();
      },
    ),
    { numRuns: 300, examples: [[['$', ': ', '\n', ': ']]] },
  );
});

test('no id, host or user can be an option or hold what a shell reads', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), text => {
      for (const accepted of [isId(text), isAddress(text), isUser(text)])
        if (accepted) expect(text).not.toMatch(/^-|[\s;|&`<>()'"\\*?!{}#~\u0000-\u001f\u007f]/);
    }),
    { numRuns: 5000 },
  );
  for (const text of ['-x', '', ' a', 'a b', 'a\n', 'a;b', '$(x)', '`x`', 'a|b'])
    expect([isId(text), isAddress(text), isUser(text), readAddress(text)]).toEqual([
      false,
      false,
      false,
      undefined,
    ]);
});

test.each([
  ['host', { host: 'host' }],
  ['me@host', { user: 'me', host: 'host' }],
  ['me@host:2222', { user: 'me', host: 'host', port: 2222 }],
  ['ssh://me@host:2222/', { user: 'me', host: 'host', port: 2222 }],
  ['[::1]:22', { host: '::1', port: 22 }],
  ['fe80::1%eth0', { host: 'fe80::1%eth0' }],
  ['me@dom@host', { user: 'me@dom', host: 'host' }],
  ['host:0', undefined],
  ['host:99999', undefined],
  ['-oX@host', undefined],
  ['me@-host', undefined],
])('%j is read as an address', (text, address) => {
  expect(readAddress(text)).toEqual(address);
});
