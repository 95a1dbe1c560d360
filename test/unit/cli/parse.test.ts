import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Request } from '../../../src/config/request.ts';
import { Float } from '../../../src/data/values/value.ts';
import type { Host } from '../../../src/protocol/host.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import { fault } from '../../helpers/fault.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const roster = 'web1: 10.0.0.1\nweb2: {host: 10.0.0.2, user: svc}\n';

const request = async (argv: readonly string[], text = roster, config = ''): Promise<Request> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-cli-'));
  onTestFinished(() => removeFolder(dir));
  writeFileSync(join(dir, 'roster.yaml'), text);
  writeFileSync(join(dir, 'tsalt.yaml'), config);
  const written = loadConfig({ cwd: dir, env: {} });
  return makeRequest({
    given: parseArguments(argv),
    config: written,
    sdb: openSdb(written, {}),
    env: {},
    ask: () => Promise.reject(new Error('asked')),
  });
};

const failure = async (argv: readonly string[]) => {
  const { message, hint, at } = await fault(request(argv));
  return { message, hint, at };
};

test('target, function and arguments become a request with types', async () => {
  const made = await request(['web*', 'state.apply', 'nginx', 'test=True', 'pillar={a: [1, 2.0]}']);
  expect(made).toMatchObject({
    target: 'web*',
    targetType: 'glob',
    delimiter: ':',
    fun: 'state.apply',
    args: ['nginx'],
  });
  expect([...made.kwargs]).toEqual([
    ['test', true],
    ['pillar', new Map([['a', [1, new Float(2)]]])],
  ]);
  expect(made.options.test).toBe(true);
  expect(made.hosts.map(({ id, user }) => [id, user === 'svc'])).toEqual([
    ['web1', false],
    ['web2', true],
  ]);
});

test('arguments are typed as Salt types them', async () => {
  const made = await request([
    'a',
    'test.arg',
    '0644',
    '1_000',
    'None',
    'x=y=z',
    'a==b',
    '#c',
    '{a: 1}',
    'a: 1',
    '-1',
    "k='1'",
    'ended=1\n',
    'lines=1\n2',
  ]);
  expect(made.args).toEqual([
    ...[644, '1_000', null, 'a==b', '#c', new Map([['a', 1]]), 'a: 1', -1, 'lines=1\n2'],
  ]);
  expect([...made.kwargs]).toEqual([
    ['x', 'y=z'],
    ['k', '1'],
    ['ended', 1],
  ]);
});

test('--no-parse keeps named arguments as text', async () => {
  const made = await request(['a', 'test.arg', 'v=1.10', 'w=1', '--no-parse', 'v']);
  expect([...made.kwargs]).toEqual([
    ['v', '1.10'],
    ['w', 1],
  ]);
});

test('options may stand anywhere, and -- ends them', async () => {
  const made = await request([
    'web1',
    'cmd.run',
    '--out=json',
    'ls -l',
    '-l',
    'debug',
    '--',
    '--now',
  ]);
  expect(made.args).toEqual(['ls -l', '--now']);
});

test.each([
  ['-E', 'pcre'],
  ['-L', 'list'],
  ['-N', 'nodegroup'],
  ['-G', 'grain'],
  ['-P', 'grain_pcre'],
  ['-I', 'pillar'],
  ['-J', 'pillar_pcre'],
  ['-S', 'ipcidr'],
  ['-C', 'compound'],
])('%s makes the target a %s', async (flag, type) => {
  expect((await request([flag, 'x', 'test.ping'])).targetType).toBe(type);
});

test('-r joins the words to a shell command', async () => {
  expect(await request(['-r', 'web1', 'echo', 'a b', '--', '-n'])).toMatchObject({
    raw: 'echo a b -n',
  });
});

test('--dry-run is test=True', async () => {
  const made = await request(['web1', 'state.apply', '--dry-run']);
  expect(made.kwargs.get('test')).toBe(true);
  expect(made.options.test).toBe(true);
});

test('--guard is for runs of states whose workspace stays', async () => {
  const apply = ['web1', 'state.apply', '--guard=2.5'];
  expect((await request(apply)).options.guard).toBe(2.5);
  expect((await request(['web1', 'state.apply', '--rollback', '2.5'])).options.guard).toBe(2.5);
  expect((await request(['web1', 'state.apply'])).options.guard).toBeUndefined();
  const text = async (argv: string[], config?: string): Promise<string> =>
    (await fault(request(argv, roster, config))).message;
  expect(await text(['web1', 'test.ping', '--guard=5'])).toContain('for runs of states only');
  expect(await text(['-r', 'web1', 'id', '--guard=5'])).toContain('for runs of states only');
  expect(await text([...apply, '--wipe'])).toContain('--guard and --wipe exclude each other');
  expect(await text([...apply, '-W'])).toContain('--guard and --rand-thin-dir exclude');
  expect(await text(apply, 'ssh_wipe: true\n')).toContain('--guard and ssh_wipe exclude');
  expect(await text(['web1', 'state.apply', '--guard=0'])).toContain('a number of seconds above 0');
});

test('options of the run arrive, and the configuration has the defaults', async () => {
  const made = await request([
    'a',
    'b.c',
    '--max-procs=3',
    '-b',
    '25%',
    '--batch-wait=0.5',
    '--timeout',
    '9',
    '-wWit',
    '--failhard',
    '--strict',
    '--jid=20261121000000000001',
    '--accept-new-host-keys',
    '--pre-flight',
    '--static',
  ]);
  expect(made.options).toEqual({
    maxProcs: 3,
    batch: [{ percent: 25 }],
    batchWait: 0.5,
    timeout: 9,
    failhard: true,
    strict: true,
    dryRun: false,
    static: true,
    wipe: true,
    randomThinDir: true,
    regen: true,
    preFlight: true,
    keyDeploy: false,
    noSshConfig: false,
    acceptNewHostKeys: true,
    ignoreHostKeys: true,
    jid: '20261121000000000001',
  });
  expect((await request(['a', 'b.c'], roster, 'ssh_max_procs: 7')).options.maxProcs).toBe(7);
});

test('a job id is 20 digits of time', async () => {
  expect((await request(['a', 'b.c'])).options.jid).toMatch(/^20\d{18}$/);
});

test('ssh options of the command line are defaults of the roster', async () => {
  const made = await request([
    'a',
    'b.c',
    '--user=me',
    '--port=2200',
    '--sudo',
    '--priv=/k',
    '--ssh-option',
    'Compression=yes',
    '--ssh-option',
    'ServerAliveInterval=5',
    '--transport=openssh',
    '--node-bin=/n',
  ]);
  expect(made.hosts[0]).toMatchObject({
    user: 'me',
    port: 2200,
    sudo: true,
    priv: '/k',
    transport: 'openssh',
    node_bin: '/n',
    ssh_options: ['Compression=yes', 'ServerAliveInterval=5'],
  });
  expect(made.hosts[1]).toMatchObject({ user: 'svc', port: 2200 });
});

test('--askpass asks when a host is prepared and not before', async () => {
  const made = await request(['a', 'b.c', '--askpass']);
  await expect(made.prepareHost(made.hosts[0]!)).rejects.toThrow('asked');
});

test.each([
  ['deploy@10.0.0.5:2222', { id: '10.0.0.5', host: '10.0.0.5', user: 'deploy', port: 2222 }],
  ['10.0.0.6', { id: '10.0.0.6', host: '10.0.0.6', port: 22 }],
  ['ssh://me@[::1]:2200', { id: '::1', host: '::1', user: 'me', port: 2200 }],
  ['@local', { id: 'local', transport: 'local' }],
  ['@chroot/srv/root', { id: 'srv-root', transport: 'chroot', host: '/srv/root' }],
  ['@docker/app', { id: 'app', transport: 'container', host: 'docker:app' }],
  ['@podman/app', { id: 'app', transport: 'container', host: 'podman:app' }],
])('the target %s needs no roster', async (target, host) => {
  const made = await request([target, 'test.ping']).catch((error: unknown) => error);
  expect(made).toMatchObject({ target: host.id, targetType: 'list' });
  expect((made as Request).hosts.at(-1)).toMatchObject(host);
});

test('clean is a shell command for its target', async () => {
  const made = await request(['clean', 'web*']);
  expect(made).toMatchObject({ target: 'web*', fun: 'ssh._raw' });
  const { raw } = made as Request;
  expect(typeof raw === 'function' && raw({ thin_dir: "/it's" } as Host)).toMatch(
    /rm -rf "\$d".* clean '\/it'\\''s'$/,
  );
  expect(await request(['-L', 'clean', 'test.ping'])).toMatchObject({ target: 'clean' });
});

test('--local is the target @local', async () => {
  expect(await request(['--local', 'test.ping'])).toMatchObject({
    target: 'local',
    fun: 'test.ping',
  });
});

test('groups of an inventory are nodegroups, below those of the configuration', async () => {
  const made = await request(
    ['a', 'b.c', '--roster=ansible'],
    '[web]\na\n[db]\nb\n',
    'nodegroups: {db: x}\nroster_file: roster.yaml',
  );
  expect(made.config.nodegroups).toMatchObject({ web: 'L@a', db: 'x' });
});

test.each([
  [[], 'A target and a function are needed.'],
  [['web1'], "A function is needed after the target 'web1'."],
  [['-r', 'web1'], "A shell command is needed after the target 'web1'."],
  [['web1', 'ping'], "The function 'ping' is not of the form module.function."],
  [['-E', '-L', 'x', 'a.b'], 'Only one kind of target can be chosen, not --pcre and --list.'],
  [
    ['x', 'a.b', '--max-procs=0'],
    "The value of --max-procs must be a whole number above 0, not '0'.",
  ],
  [
    ['x', 'a.b', '-b', '200%'],
    "The value of --batch must be a number of hosts or a percentage like 25%, not '200%'.",
  ],
  [
    ['x', 'a.b', '--timeout=soon'],
    "The value of --timeout must be a number of seconds above 0, not 'soon'.",
  ],
  [['x', 'a.b', '--jid=1'], "The value of --jid must be 20 digits, not '1'."],
  [['x', 'a.b', '--outt=json'], 'There is no option --outt.'],
  [['x', 'a.b', '-Z'], 'There is no option -Z.'],
  [['x', 'a.b', '--passwd=hunter2'], 'There is no option --passwd.'],
  [['x', 'a.b', '--out'], 'The option --out needs a value.'],
  [['x', 'a.b', '--transport=telnet'], "The option --transport has no value 'telnet'."],
  [['@vm/x', 'a.b'], "There is no connector '@vm/x'."],
  [['-oX@host', 'a.b'], 'There is no option -o.'],
  [['me@-host', 'a.b'], "The target 'me@-host' is not a valid user@host:port."],
  [
    ['x', 'a.b', '--ssh-option', 'ProxyCommand=id'],
    "The ssh option 'ProxyCommand=id' is not among the ssh options that may be set.",
  ],
  [['x', 'a.b', '--user=-oX'], "The value of 'user' must be a login name, not '-oX'."],
  [
    ['x', 'a.b', '--remote-port-forwards=1'],
    "The tunnel '1' is not of the form PORT:HOST:HOSTPORT.",
  ],
])('%j is refused in one sentence', async (argv, message) => {
  expect((await failure(argv)).message).toBe(message);
});

test.each([
  ['--stati', 'Did you mean --static?'],
  ['--accept', 'Did you mean --accept-new-host-keys?'],
  ['-test', 'Use test=True after the function, or --dry-run.'],
  ['-out=json', 'Long options have two dashes: --out.'],
  ['-Z', 'tsalt-ssh --help lists the options.'],
])('%s: the option that is meant is named', async (word, hint) => {
  expect((await failure(['x', 'a.b', word])).hint).toBe(hint);
});

test('a wrong value names the argument it came by, or the file', async () => {
  const place = async (...argv: string[]) => (await failure(['x', 'a.b', ...argv])).at;
  expect(await place('--ssh-option', 'Foo=1')).toEqual({ file: '--ssh-option' });
  expect(await place('--user=-oX')).toEqual({ file: '--user' });
  expect(await place('--port=0')).toEqual({ file: '--port' });
});

test("Salt's ssh_ options of the configuration reach hosts and runs", async () => {
  const config = [
    'ssh_user: deploy',
    'ssh_port: 2222',
    'ssh_passwd: {env: PW}',
    'ssh_priv: keys/id',
    'ssh_sudo: true',
    'ssh_sudo_user: app',
    'ssh_timeout: 7',
    'ssh_identities_only: true',
    'ssh_options: [ServerAliveInterval=5]',
    'ssh_keepalive_count_max: 4',
    'ssh_max_procs: 3',
    'ssh_wipe: true',
    'ssh_run_pre_flight: true',
    'ssh_minion_opts: {a: 1}',
    'known_hosts_file: kh',
    'ssh_config_file: sc',
  ].join('\n');
  const made = await request(['web1', 'test.ping'], 'web1: 10.0.0.1\n', `${config}\n`);
  expect(made.hosts[0]).toMatchObject({
    user: 'deploy',
    port: 2222,
    priv: expect.stringMatching(/\/keys\/id$/),
    sudo: true,
    sudo_user: 'app',
    timeout: 7,
    identities_only: true,
    ssh_options: ['ServerAliveInterval=5', 'ServerAliveCountMax=4'],
  });
  expect(made.hosts[0]).not.toHaveProperty('unsaid');
  expect(made.options).toMatchObject({ maxProcs: 3, wipe: true, preFlight: true });
  expect(made.config).toMatchObject({
    ssh_minion_opts: { a: 1 },
    known_hosts_file: expect.stringMatching(/\/kh$/),
    ssh_config_file: expect.stringMatching(/\/sc$/),
  });
  await expect(made.prepareHost(made.hosts[0] as Host)).rejects.toThrow('PW');
});

test('a misspelt option has a suggestion', async () => {
  expect((await failure(['x', 'a.b', '--outt=json'])).hint).toBe('Did you mean --out?');
});

test('the last of several values counts, unless all of them may be meant', async () => {
  const told = async (...argv: string[]): Promise<string> => {
    const { message, hint } = await failure([...argv, 'web*', 'test.ping']);
    return `${message} ${hint}`;
  };
  expect(await told('--roster', 'flat', '--roster', 'ansible')).toBe(
    '--roster is given more than once: flat, ansible. Several values are written with commas between: --roster A,B.',
  );
  expect(await told('--no-parse=a', '--no-parse=b')).toContain('--no-parse A,B');
  const options = ['-vv', '--timeout=5', '--timeout=60', '--ssh-option', 'A=1', '--ssh-option=B=2'];
  expect(parseArguments([...options, 'web*', 'test.ping']).options).toEqual({
    verbose: true,
    timeout: '60',
    'ssh-option': ['A=1', 'B=2'],
  });
});

test('a keyword argument with two values is refused, and none of them is shown', async () => {
  expect(await failure(['web*', 'state.apply', 'test=True', 'test=False'])).toMatchObject({
    message: "The argument 'test' is given more than once, with different values.",
  });
  const made = await request(['web*', 'state.apply', 'test=True', 'test=true']);
  expect([...made.kwargs]).toEqual([['test', true]]);
});
