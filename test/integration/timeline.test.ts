import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/one.sls':
        'word:\n  test.configurable_test_state:\n    - comment: {{ pillar.token }}\n',
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

test('a debug log and a log file hold no secret of roster or pillar', async () => {
  const file = join(project.dir, 'run.log');
  const { stderr, code } = await project.run(
    '-l',
    'debug',
    '--log-file',
    file,
    '--log-file-level',
    'all',
    'web1',
    'state.apply',
    'one',
    '--out',
    'quiet',
  );
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/web1: connect/);
  expect(stderr).not.toMatch(/login-5ecret/);
  expect(readFileSync(file, 'utf8')).not.toMatch(/login-5ecret/);
});
