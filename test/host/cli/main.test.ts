import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { exitCodeOfHost, mostSevereCode } from '../../../src/cli/exit-code.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import { cleanCommand } from '../../../src/request/clean.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const program = join(root, 'dist', 'tsalt-ssh.cjs');

/** Other tests may be using dist, so it is rebuilt only if it is older than the sources. */
const isFresh = (): boolean => {
  const made = statSync(join(root, 'dist', 'main.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(path => !path.startsWith('modules') && !path.startsWith('runtime'))
    .every(path => statSync(join(root, 'src', path)).mtimeMs < made);
};

beforeAll(() => {
  if (isFresh()) return;
  const built = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')]);
  expect(built.status).toBe(0);
}, 240_000);

const project = (files: Readonly<Record<string, string>>): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-main-'));
  onTestFinished(() => removeFolder(dir));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
};

const cli = (dir: string, ...argv: string[]) => {
  const env = { ...process.env, XDG_CACHE_HOME: join(dir, 'cache'), TSALT_CONFIG_DIR: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    cwd: dir,
    env,
    encoding: 'utf8',
    timeout: 240_000,
  });
  return { status, stdout, stderr };
};

const roster = 'web1: 127.0.0.1\ndb1: {host: 10.0.0.2, passwd: hunter2}\n';

test('--help lists options, exit codes and examples', () => {
  const { status, stdout } = cli(project({}), '--help');
  expect(status).toBe(0);
  for (const part of ['--roster-file', '-G, --grain', '   76  a host key is', 'Examples:'])
    expect(stdout).toContain(part);
});

test('--version and --versions-report name the version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(cli(project({}), '--version')).toEqual({
    status: 0,
    stdout: `tsalt-ssh ${version}\n`,
    stderr: '',
  });
  expect(cli(project({}), '--versions-report').stdout).toContain(`node: ${process.versions.node}`);
});

test('-H lists the roster and shows no secret', () => {
  const dir = project({ 'roster.yaml': roster });
  expect(cli(dir, '-H')).toEqual({
    status: 0,
    stdout: `${join(dir, 'roster.yaml')}:\n    ----------\n    db1:\n        10.0.0.2\n    web1:\n        127.0.0.1\n`,
    stderr: '',
  });
  expect(JSON.parse(cli(dir, '-H', '--out=json').stdout)).toEqual({
    [join(dir, 'roster.yaml')]: { web1: '127.0.0.1', db1: '10.0.0.2' },
  });
});

test('no host matched is an error of its own', () => {
  const { status, stdout, stderr } = cli(project({ 'roster.yaml': roster }), 'nope', 'test.ping');
  expect([status, stdout]).toEqual([67, '']);
  expect(stderr).toMatch(/^tsalt-ssh: No host of the roster matches the glob target 'nope'\.\n/);
});

test('bad input is one sentence with its place, exit 64, and JSON stays JSON', () => {
  const dir = project({ 'roster.yaml': 'web1:\n  hots: x\n' });
  expect(cli(dir, '*', 'test.ping', '--out=json')).toEqual({
    status: 64,
    stdout: '{}\n',
    stderr: `tsalt-ssh: The roster entry 'web1' has an unknown key 'hots'. (${join(dir, 'roster.yaml')}:2:3)\nDid you mean 'host'?\n`,
  });
  expect(cli(dir, '*', 'test.ping', '--otu=json').stderr).toBe(
    'tsalt-ssh: There is no option --otu.\nDid you mean --out?\n',
  );
});

test('a YAML error in the roster is a fault of usage', () => {
  const { status, stderr } = cli(project({ 'roster.yaml': 'a: [\n' }), '*', 'test.ping');
  expect(status).toBe(64);
  expect(stderr).toContain('roster.yaml:');
  expect(stderr).not.toContain('    at ');
});

test('a state run on this machine shows results and exits by them', { tags: 'slow' }, () => {
  const dir = project({
    'states/good.sls': 'x: {test.nop: []}\n',
    'states/bad.sls': 'x: {test.fail_without_changes: []}\n',
  });
  const good = cli(dir, '@local', 'state.apply', 'good');
  expect(good.status).toBe(0);
  expect(good.stdout).toContain('\nSummary for local\n------------\nSucceeded: 1\nFailed:    0\n');
  expect(good.stdout).not.toContain('\u001b');
  expect(cli(dir, '@local', 'state.apply', 'bad').status).toBe(20);
  expect(cli(dir, '@local', 'state.apply', 'nosuch')).toMatchObject({
    status: 65,
    stdout: expect.stringContaining("- No matching sls found for 'nosuch' in env 'base'\n"),
  });
});

test('test.ping shows True as salt-ssh does', () => {
  expect(cli(project({}), '--local', 'test.ping')).toEqual({
    status: 0,
    stdout: 'local:\n    True\n',
    stderr: '',
  });
});

test('ndjson has a line for each event, from start to end', () => {
  const dir = project({ 'states/good.sls': 'x: {test.nop: []}\n' });
  const lines = cli(dir, '@local', 'state.apply', 'good', '--out=ndjson').stdout.trim().split('\n');
  const types = lines.map(line => JSON.parse(line).type);
  expect([types[0], types.at(-1)]).toEqual(['start', 'end']);
  expect(types).toEqual(expect.arrayContaining(['phase', 'plan', 'state', 'host']));
});

test('fire_event names its event as Salt does, after the job, the host and the state', () => {
  const dir = project({
    'states/loud.sls': 'x: {test.nop: [fire_event: true]}\ny: {test.nop: [fire_event: my/tag]}\n',
  });
  const jid = '--jid=20261121223400000000';
  const { stdout } = cli(dir, '@local', 'state.apply', 'loud', jid, '--out=ndjson');
  expect(stdout.match(/"event":"[^"]*"/g)).toEqual([
    '"event":"salt/state_result/20261121223400000000/local/x"',
    '"event":"salt/state_result/20261121223400000000/local/my/tag"',
  ]);
});

test('log levels and colours of the configuration count where the command line says nothing', () => {
  const dir = project({ 'tsalt.yaml': 'log_level: debug\nlog_level_logfile: error\n' });
  const call = ['--local', 'log.info', 'hear this', '--log-file=log'];
  expect(cli(dir, ...call).stderr).toContain('hear this');
  expect(cli(dir, ...call, '-l', 'warning').stderr).not.toContain('hear this');
  expect(readFileSync(join(dir, 'log'), 'utf8')).not.toContain('hear this');
  writeFileSync(join(dir, 'tsalt.yaml'), 'log_level: loud\n');
  expect(cli(dir, ...call)).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("There is no log level 'loud'."),
  });
});

test('--out-file writes a private file and nothing to standard output', () => {
  const dir = project({});
  const { stdout } = cli(dir, '--local', 'test.ping', '--out=yaml', '--out-file=out.yaml');
  expect(stdout).toBe('');
  expect(readFileSync(join(dir, 'out.yaml'), 'utf8')).toBe('local: true\n');
  expect(statSync(join(dir, 'out.yaml')).mode & 0o777).toBe(0o600);
  cli(dir, '--local', 'test.ping', '--out=yaml', '--out-file=out.yaml', '--out-file-append');
  expect(readFileSync(join(dir, 'out.yaml'), 'utf8')).toBe('local: true\nlocal: true\n');
});

test('an outputter of the user is found in _outputters', { tags: 'slow' }, () => {
  const dir = project({
    'states/_outputters/loud.ts':
      'export const output = (data: Record<string, unknown>): string => `${Object.keys(data)} SAYS ${Object.values(data)}`;',
  });
  expect(cli(dir, '--local', 'test.ping', '--out=loud')).toMatchObject({
    status: 0,
    stdout: 'local SAYS true\n',
  });
  expect(cli(dir, '--local', 'test.ping', '--out=lowd').stderr).toContain(
    "There is no outputter 'lowd'.",
  );
});

test('a prompt without a terminal is an error at once', () => {
  const dir = project({ 'roster.yaml': 'web1: {host: 127.0.0.1, port: 9}\n' });
  const { status, stdout } = cli(dir, 'web1', 'test.ping', '--askpass', '--out=json');
  expect(status).toBe(77);
  expect(JSON.parse(stdout).web1).toMatch(
    /^The host 'web1' needs a password, and there is no terminal to ask at\./,
  );
});

test('module new writes a module and its test', () => {
  const dir = project({ 'states/top.sls': '' });
  const { status, stdout } = cli(dir, 'module', 'new', 'exec', 'greeting');
  expect(status).toBe(0);
  expect(stdout).toContain('wrote states/_modules/greeting.ts\n');
  expect(readFileSync(join(dir, 'states/_modules/greeting.ts'), 'utf8')).toContain('export const');
  expect(cli(dir, 'module', 'new', 'exec').stderr).toMatch(
    /^tsalt-ssh: A new module needs a kind and a name\.\n/,
  );
});

test('clean removes the workspace of a host and nothing else', () => {
  const dir = project({
    'home/.cache/tsalt-ssh/node-1': '',
    'home/.cache/other/x': '',
    // Another user's number, so that no workspace in /tmp of the real one is touched.
    'bin/id': '#!/bin/sh\necho tsalt-test-nobody\n',
  });
  chmodSync(join(dir, 'bin/id'), 0o755);
  mkdirSync(join(dir, 'thin'));
  const mine = ['20240101-report.json', 'mine', 'node-exporter', 'pre-flight-notes'];
  const ours = [`${'ab'.repeat(32)}.js`, `node-${'0'.repeat(64)}`, `pre-flight-${'0'.repeat(64)}`];
  for (const name of [...ours, ...mine]) writeFileSync(join(dir, 'thin', name), '');
  const { stdout } = spawnSync(cleanCommand({ thin_dir: join(dir, 'thin') }), {
    shell: true,
    encoding: 'utf8',
    env: { HOME: join(dir, 'home'), PATH: `${join(dir, 'bin')}:${process.env.PATH}` },
  });
  expect(stdout).toBe(
    `removed ${join(dir, 'home/.cache/tsalt-ssh')}\nemptied ${join(dir, 'thin')}\n`,
  );
  expect(readdirSync(join(dir, 'thin'))).toEqual(mine);
  expect(existsSync(join(dir, 'home/.cache/tsalt-ssh'))).toBe(false);
  expect(existsSync(join(dir, 'home/.cache/other/x'))).toBe(true);
});

const result = (fields: Partial<HostResult>): HostResult => ({
  id: 'x',
  fun: 'state.apply',
  retcode: 0,
  ...fields,
});
const failed = (kind: 'auth' | 'unreachable' | 'host-key'): HostResult =>
  result({ retcode: 255, failure: { kind, code: kind, message: kind } });

const exitCodeOf = (results: readonly HostResult[]): number =>
  mostSevereCode(new Set(results.map(exitCodeOfHost)));

test('with several hosts the gravest exit code counts', () => {
  expect(exitCodeOf([result({})])).toBe(0);
  expect(exitCodeOf([result({}), result({ retcode: 2, states: {} })])).toBe(20);
  expect(
    exitCodeOf([result({ retcode: 1, value: ['no sls'] }), result({ retcode: 2, states: {} })]),
  ).toBe(65);
  expect(exitCodeOf([result({ retcode: 2, states: {} }), failed('unreachable')])).toBe(68);
  expect(exitCodeOf([failed('unreachable'), failed('auth')])).toBe(77);
  expect(exitCodeOf([failed('auth'), failed('host-key'), failed('unreachable')])).toBe(76);
});
