import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

// Commands of a newcomer in the first hour: each mistake is answered with the right command.

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/motd.sls': 'x:\n  test.nop: []\n',
      'states/asks.sls': 'include:\n  - mtod\n',
    },
  });
});
afterAll(() => project.close());

const refused = async (...words: string[]) => {
  const { code, stdout, stderr } = await project.run(...words);
  return { code, text: stderr + stdout };
};

test('a folder without a roster is named, with the names that were looked for', async () => {
  const empty = join(project.dir, 'empty');
  mkdirSync(empty);
  const words = [['*'], ['web1'], ['-c', empty, 'web1']];
  for (const [at, target] of words.entries()) {
    const cwd = at < 2 ? empty : project.dir;
    const { code, stderr } = await tsalt([...target, 'test.ping'], { cwd, env: {} });
    expect(stderr).toContain(`${empty} has no roster.`);
    expect(stderr).toContain('roster.yaml, roster.yml and roster.');
    expect(code).toBe(67);
  }
  project.write({ 'empty/roster.yaml': '{}\n' });
  const { stderr } = await tsalt(['web1', 'test.ping'], { cwd: empty, env: {} });
  expect(stderr).toContain(`The roster ${join(empty, 'roster.yaml')} has no hosts.`);
});

test.each([
  [['hosts']],
  [['hosts', 'web1']],
  [['-H']],
  [['console', 'web1']],
  [['validate']],
  [['lint']],
])('%j: a folder without a roster is named, although nothing runs on hosts', async words => {
  const empty = join(project.dir, `empty ${words.join()}`);
  mkdirSync(empty);
  const { code, stdout, stderr } = await tsalt([...words], { cwd: empty, env: {} });
  expect(stderr).toContain(`${empty} has no roster.`);
  expect({ code, stdout }).toEqual({ code: 67, stdout: '' });
});

test.each([[['hosts', 'wbe1']], [['wbe1', '-H']], [['console', 'wbe1']], [['validate', 'wbe1']]])(
  '%j: a target that no host matches is reported with the nearest one',
  async words => {
    const { code, stdout, stderr } = await project.run(...words);
    expect(stderr).toMatch(/^tsalt-ssh: No host of the roster matches the \w+ target 'wbe1'\.$/m);
    expect(stderr).toContain("Did you mean 'web1'?");
    expect({ code, stdout }).toEqual({ code: 67, stdout: '' });
  },
);

test('attach reports that no run is detached', async () => {
  expect(await project.run('attach')).toMatchObject({
    code: 0,
    stdout: `No detached run of ${project.dir} is recorded.\n`,
  });
});

test('a folder inside of a project is reported with the folder of the project', async () => {
  const { stderr, code } = await tsalt(['web1', 'test.ping'], {
    cwd: join(project.dir, 'states'),
    env: {},
  });
  expect(stderr).toContain(`${project.dir} is a project: cd ${project.dir}, or use -c ..\n`);
  expect(stderr).toContain('tsalt-ssh init writes a small project.');
  expect(code).toBe(67);
});

test('a range in a target is told from a range in a roster', async () => {
  const { code, text } = await refused('db[01:20]', 'test.ping');
  expect(text).toContain('In a target [01:20] is one of these characters; a range');
  expect(code).toBe(67);
});

test('a state function that is misspelt is reported without an SLS in state.single', async () => {
  const { text } = await refused('web1', 'state.single', 'pkg.instaled', 'name=x');
  expect(text).toContain("(did you mean 'pkg.installed'?), in ID 'x'");
  expect(text).not.toContain('undefined');
});

test.each([
  [['doctr', 'web1'], 'Did you mean: tsalt-ssh doctor web1\n'],
  [['completions', 'bash'], 'Did you mean: tsalt-ssh completion bash\n'],
  [['inti'], 'Did you mean: tsalt-ssh init\n'],
  [['sssh', 'web1', 'uptime'], 'Did you mean: tsalt-ssh ssh web1 uptime\n'],
  [['state.apply', 'web*'], "The target comes first: tsalt-ssh 'web*' state.apply\n"],
  [['state.apply', 'web1', 'test=True'], "tsalt-ssh 'web1' state.apply test=True\n"],
  [['state.apply'], "For example: tsalt-ssh '*' state.apply\n"],
  [['roster.yaml', 'states', 'state.apply'], "Quote it: tsalt-ssh '*' state.apply\n"],
  [['--tets', 'web1', 'test.ping'], 'Use test=True after the function, or --dry-run.\n'],
  [['--check', 'web1', 'test.ping'], 'Use test=True after the function, or --dry-run.\n'],
  [['--local', 'web1', 'test.ping'], '--local takes no target: tsalt-ssh --local test.ping\n'],
  [['-V'], 'Use --version or --versions-report.\n'],
  [['web1', 'cmd.run', 'FOO=bar env'], "write cmd='FOO=…'.\n"],
])('%j is refused with what to type', async (words, hint) => {
  const { code, text } = await refused(...words);
  expect(text).toContain(hint);
  expect(code).toBe(64);
});

test.each([
  ['web1,web2', 'A list of hosts needs -L: tsalt-ssh -L web1,web2 …\n'],
  ['web*,web2', "tsalt-ssh -C 'web* or web2' …\n"],
  ['wbe1', "Did you mean 'web1'?\n"],
  ['roster.yaml', "'roster.yaml' is the name of a file here"],
])('the target %j matches no host, and the likely slip is named', async (target, hint) => {
  const { code, text } = await refused(target, 'test.ping');
  expect(text).toContain(hint);
  expect(text).toContain('The roster has: web1, web2');
  expect(code).toBe(67);
});

test('`cmd.run cmd=` takes a text with an equals sign, and true after -r is a command', {
  tags: 'slow',
}, async () => {
  const { stdout } = await project.run('web1', 'cmd.run', 'cmd=FOO=bar env | grep ^FOO');
  expect(stdout).toBe('web1:\n    FOO=bar\n');
  expect((await project.run('web1', '-r', 'true')).code).toBe(0);
  expect((await project.run('web1', '-r', 'false')).code).toBe(20);
  expect((await project.run('--local', '-ir', 'false')).code).toBe(20);
  expect((await project.run('--static=false', 'web1', 'test.ping')).code).toBe(0);
});

test('the words help and version are answered', async () => {
  expect((await project.run('help')).stdout).toMatch(/^Usage: tsalt-ssh /);
  expect((await project.run('version')).stdout).toMatch(/^tsalt-ssh \d/);
});

test('an SLS that is missing is reported with folders and the nearest name', {
  tags: 'slow',
}, async () => {
  const states = join(project.dir, 'states');
  const { code, text } = await refused('web1', 'state.apply', 'moted');
  expect(text).toContain("- No matching sls found for 'moted' in env 'base'\n");
  expect(text).toContain("Did you mean 'motd'?\n");
  expect(text).toContain(`Looked for moted.sls and moted/init.sls in ${states}.\n`);
  expect(code).toBe(65);
  expect((await refused('web1', 'state.apply', 'motd.sls')).text).toContain(
    "Did you mean 'motd'? An SLS is named without .sls",
  );
  const included = (await refused('web1', 'state.apply', 'asks')).text;
  expect(included).toContain("There is no SLS 'mtod' in saltenv 'base'. (states/asks.sls:2:5)");
  expect(included).toContain("Did you mean 'motd'?");
});

test('a folder of file_roots that does not exist is named', async () => {
  const config = 'known_hosts_file: known_hosts\ncachedir: cache\n';
  project.write({ 'tsalt.yaml': `${config}file_roots: {base: [nope]}\n` });
  const nope = join(project.dir, 'nope');
  expect((await refused('web1', 'state.apply', 'motd')).text).toContain(
    `${nope} (does not exist).`,
  );
  const top = (await refused('web1', 'state.apply')).text;
  expect(top).toContain(`No top.sls with targets exists in ${nope}. Missing folders: ${nope}.`);
  expect(top).not.toContain('master log');
  project.write({ 'tsalt.yaml': config });
});

test('sys.doc of a name that only a state has returns the documentation of the state', async () => {
  const { stdout } = await project.run('web1', 'sys.doc', 'file.managed', 'test.ping');
  expect(stdout).toMatch(/file\.managed:\n +Manages a file/);
  expect(stdout).toMatch(/test\.ping:\n +True/);
  expect((await project.run('web1', 'sys.doc', 'test.nop')).stdout).toMatch(/test\.nop:\n +\S/);
});

test('an SLS without states says so', async () => {
  project.write({
    'states/empty.sls': '',
    'states/never.sls': '{% if false %}\nx:\n  test.nop: []\n{% endif %}\n',
    'states/top.sls': "base: {'*': [empty]}\n",
  });
  const { text } = await refused('web1', 'state.apply', 'empty,never');
  expect(text).toContain(
    'Nothing to run: states/empty.sls, states/never.sls have no states for this host.',
  );
  const top = await refused('web1', 'state.apply');
  expect(top.text).toContain('Nothing to run: states/empty.sls has no states for this host.');
  expect(top.code).toBe(20);
});

test('a function that fails exits as a failed state does, also one of the user', {
  tags: 'slow',
}, async () => {
  project.write({
    'states/_modules/mine.ts': `import { CommandExecutionError } from 'tsalt-ssh/module';
export const refuse = () => { throw new CommandExecutionError('not today'); };
export const broken = () => { throw new TypeError('oops'); };
export const unsent = () => new Set([1]);
`,
  });
  for (const [fun, message] of [
    ['test.exception', 'not today'],
    ['mine.refuse', 'not today'],
    ['mine.broken', 'oops (states/_modules/mine.ts:3:'],
    ['mine.unsent', 'cannot be serialized'],
  ] as const) {
    const words = fun.startsWith('test') ? ['not today'] : [];
    const { code, text } = await refused('web1', fun, ...words);
    expect(text).toContain(message);
    expect(code, fun).toBe(20);
  }
});

test('a requisite that names no state is reported with its place and the nearest name', async () => {
  project.write({
    'states/lost.sls': `nginx:
  test.nop: []
site:
  test.nop:
    - require:
      - test: ngnix
    - watch:
      - file: nginx
      - sls: lots
      - test: ng*
`,
  });
  const { code, text } = await refused('web1', 'state.apply', 'lost');
  expect(text).toContain("(did you mean 'test: nginx'?). (states/lost.sls:6:9)\n");
  expect(text).toContain("(did you mean 'test: nginx'?). (states/lost.sls:8:9)\n");
  expect(text).toContain("(did you mean 'sls: lost'?). (states/lost.sls:9:9)\n");
  expect(text.match(/is not a state of this run/g)).toHaveLength(3);
  expect(code).toBe(20);
});

test('a value of a wrong type is refused before any state runs', async () => {
  project.write({
    'states/maybe.sls': `before:
  test.nop: []
/tmp/nowhere/x:
  file.managed:
    - contents: x
    - makedirs: maybe
`,
  });
  const { code, text } = await refused('web1', 'state.apply', 'maybe');
  expect(text).toContain('\'makedirs\' must be true or false, not "maybe"');
  expect(text).toContain('(states/maybe.sls:6:7)');
  expect(text).not.toContain('before');
  expect(code).toBe(65);
});

test('a forgotten colon after an id is named with its line', async () => {
  project.write({ 'states/colon.sls': 'web server\n  test.nop:\n    - name: x\n' });
  const { text } = await refused('web1', 'state.apply', 'colon');
  expect(text).toContain('Line 1 needs a colon at its end: web server:\n');
  expect(text).not.toContain('Quote a value');
});

test.each([
  [['state.apply', 'motd', 'pillar_enc=gpg'], '#!yaml|gpg'],
  [['state.single', 'test.nop', 'name=x', 'pillar_enc=gpg'], '#!yaml|gpg'],
  [['state.apply', 'motd', 'roster_grains=True'], 'in its roster entry'],
])('%j is refused: the keyword would be ignored', async (words, hint) => {
  const { code, text } = await refused('web1', ...words);
  expect(text).toContain('is an invalid keyword argument');
  expect(text).toContain(hint);
  expect(code).toBe(64);
});

test('a run that is ended names the states that did not run', { tags: 'slow' }, async () => {
  project.write({
    'states/long.sls': `one:
  cmd.run:
    - name: sleep 20
two:
  test.nop: []
three:
  test.nop: []
`,
  });
  const { code, text } = await refused('--timeout', '4', 'web1', 'state.apply', 'long');
  expect(text).toContain("Not run: 'two' (test.nop), 'three' (test.nop).");
  expect(code).toBe(69);
});

test('an account that is missing in a dry run is reported with the state that names it', async () => {
  project.write({
    'states/owned.sls':
      'conf:\n  file.managed:\n    - name: /tmp/nowhere\n    - user: nosuchuser\n',
  });
  const { text } = await refused('web1', 'state.apply', 'owned', 'test=True');
  expect(text).toContain('file: conf: User nosuchuser is not available\n');
});

test.skipIf(process.getuid?.() !== 0)('root runs --local without sudo', async () => {
  const { env } = process;
  const folder = join(project.dir, 'bin');
  mkdirSync(folder);
  project.write({
    'tsalt.yaml': 'cachedir: cache\nknown_hosts_file: known_hosts\nroster_defaults: {sudo: true}\n',
    'bin/sudo': '#!/bin/sh\nexit 9\n',
  });
  chmodSync(join(folder, 'sudo'), 0o755);
  const options = { env: { PATH: `${folder}:${env.PATH}` } };
  const { code, stdout } = await project.runWith(options, '--local', 'test.ping');
  project.write({ 'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n' });
  expect(stdout).toBe('local:\n    True\n');
  expect(code).toBe(0);
});

test('an SLS that the pillar misses is reported with folders and the nearest name', async () => {
  project.write({
    'pillar/top.sls': "base: {'*': [neet]}\n",
    'pillar/net.sls': 'a: 1\n',
  });
  const { text } = await refused('web1', 'state.apply', 'motd');
  project.write({ 'pillar/top.sls': "base: {'*': [net]}\n" });
  expect(text).toContain("There is no pillar SLS 'neet' in saltenv 'base'.");
  expect(text).toContain("Did you mean 'net'?");
  expect(text).toContain(`Looked for neet.sls and neet/init.sls in ${project.dir}/pillar.`);
  expect(text).not.toContain('salt master');
});

test('an error of many hosts is printed once, with the names of all', async () => {
  const down = Array.from({ length: 20 }, (_, at) => `down${at + 10}`);
  const entries = down.map(id => `${id}: {host: 127.0.0.1, port: 1, user: x}\n`).join('');
  project.write({ 'down.yaml': entries, 'states/tab.sls': 'a:\n\ttest.nop: []\n' });
  const many = await project.run('--roster-file', 'down.yaml', 'down*', 'test.ping');
  expect(many.stdout.match(/refused/g)).toHaveLength(1);
  expect(many.stdout).toMatch(/^The error of down\d\d also occurred on 19 more hosts: down\d\d, /m);
  expect(many.code).toBe(68);
  const sls = await project.run('*', 'state.apply', 'tab');
  expect(sls.stdout.match(/Illegal tab/g)).toHaveLength(1);
  expect(sls.stdout).toMatch(/^The error of web\d also occurred on 1 more host: web\d$/m);
  expect(sls.code).toBe(65);
});
