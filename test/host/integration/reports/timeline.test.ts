import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/one.sls':
        'word:\n  test.configurable_test_state:\n    - comment: {{ pillar.token }}\n',
      'states/two.sls': 'include: [one]\nlogged:\n  cmd.run:\n    - name: "true"\n',
      'pillar/top.sls': "base:\n  '*':\n    - secret\n",
      'pillar/secret.sls': 'token: pillar-5ecret\n',
    },
    server: { password: 'login-5ecret' },
  });
});
afterAll(() => project.close());

test('-v shows each step of a host once and in order, with the bytes sent, and no secret', async () => {
  project.roster(`${project.hosts.web1?.entry}  passwd: login-5ecret\n`);
  const { stderr, code } = await project.run('-v', 'web1', 'state.apply', 'one', '--out', 'quiet');
  expect(code, stderr).toBe(0);
  const lines = stderr.split('\n').filter(line => line.includes(' web1: '));
  const words = lines.map(line => line.replace(/^ *[\d.]+ s {2}web1: /, ''));
  expect(words).toEqual([
    'connect',
    'auth',
    'bootstrap',
    expect.stringMatching(/^upload \d{5,} bytes$/),
    'hello',
    'render',
    'run',
    'run first state test_|-word_|-word_|-configurable_test_state',
    'done',
  ]);
  const times = lines.map(line => Number.parseFloat(line));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(stderr).not.toMatch(/5ecret/);
});

test('a debug log and a log file hold no secret of roster or pillar while nothing fails', async () => {
  project.roster(`${project.hosts.web1?.entry}  passwd: login-5ecret\n`);
  const file = join(project.dir, 'run.log');
  const { stdout, stderr, code } = await project.run(
    '-l',
    'debug',
    '--log-file',
    file,
    '--log-file-level',
    'all',
    'web1',
    'state.apply',
    'two',
    '--out',
    'json',
  );
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('pillar-5ecret');
  expect(stderr).toMatch(/web1: connect/);
  expect(readFileSync(file, 'utf8')).toMatch(/web1: cmd: Executing command 'true'/);
  expect(stderr + readFileSync(file, 'utf8')).not.toMatch(/5ecret/);
});

test.each([
  ['its line', 'cmd.run:\n    - name: "false {{ pillar.token }}"'],
  ['its output', `cmd.run:\n    - name: "echo '{{ pillar.token }}' | tee /dev/stderr; exit 3"`],
  ['an argument of its list', "cmd.run:\n    - name: [sh, -c, 'exit 3', '{{ pillar.token }}']"],
  [
    'its environment',
    `cmd.run:\n    - name: 'echo "$T"; exit 3'\n    - env: [T: '{{ pillar.token }}']`,
  ],
  ['its input', "cmd.run:\n    - name: cat; exit 3\n    - stdin: '{{ pillar.token }}'"],
  [
    'its condition',
    `cmd.run:\n    - name: "true"\n    - onlyif: "echo {{ pillar.token }}; exit 3"`,
  ],
  ['its check', `test.nop:\n    - check_cmd: ["echo {{ pillar.token }}; exit 3"]`],
  ['its script', 'cmd.script:\n    - source: salt://fails.sh\n    - args: "{{ pillar.token }}"'],
  ['its folder', 'cmd.run:\n    - name: "true"\n    - cwd: "/{{ pillar.token }}"'],
])(
  'a failing command writes no secret of the pillar to the log at the default level: %s',
  async (_, state) => {
    project.roster(`${project.hosts.web1?.entry}`);
    project.write({
      'states/fails.sls': `fails:\n  ${state}\n`,
      'states/fails.sh': '#!/bin/sh\necho "$1"\nexit 3\n',
    });
    const file = join(project.dir, `${Math.random()}.log`);
    const run = (level: string[]) =>
      project.run(...level, '--log-file', file, 'web1', 'state.apply', 'fails', '--out', 'json');
    const { stdout, stderr } = await run([]);
    expect(stdout).toMatch(/"fails"/);
    expect(stderr + readFileSync(file, 'utf8')).not.toContain('5ecret');
  },
);

test('a failing command logs its program and exit code; its line and output at the level debug', async () => {
  project.roster(`${project.hosts.web1?.entry}`);
  project.write({ 'states/fails.sls': 'fails:\n  cmd.run:\n    - name: ls /no-such-place\n' });
  const file = join(project.dir, 'levels.log');
  const run = (...level: string[]) =>
    project.run(...level, '--log-file', file, 'web1', 'state.apply', 'fails', '--out', 'quiet');
  const { stderr } = await run();
  for (const log of [stderr, readFileSync(file, 'utf8')]) {
    expect(log).toMatch(/web1: cmd: A command failed with return code 2: ls/);
    expect(log).not.toContain('no-such-place');
  }
  const { stderr: all } = await run('-l', 'debug');
  expect(all).toContain("Command 'ls /no-such-place' failed with return code: 2");
  expect(all).toMatch(/stderr: .*no-such-place/);
});
