import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'db1', 'app1'],
    files: {
      'states/asks.sls':
        "x:\n  test.nop:\n    - name: {{ 'mine.get' | salt: 'db1', 'network.ip_addrs' | json }}\n",
    },
  });
});
afterAll(() => project.close());

test('hosts that are named in a list run in that order, one batch after the other', {
  tags: 'slow',
}, async () => {
  for (const order of [
    ['db1', 'web1', 'app1'],
    ['app1', 'db1', 'web1'],
  ]) {
    const { stdout } = await project.run(
      '--out',
      'ndjson',
      '-L',
      order.join(','),
      '-b',
      '1',
      'test.ping',
    );
    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const finished = events
      .filter(({ type }) => type === 'host')
      .map(({ id, result }) => id ?? result.id);
    expect(finished).toEqual(order);
  }
});

test('several outputs are refused before any connection', async () => {
  const { code, stdout, stderr } = await project.run(
    '--out',
    'json',
    '--out',
    'yaml',
    '*',
    'test.ping',
  );
  expect(stderr).toContain('--out is given more than once: json, yaml.');
  expect(stdout).toBe('{}\n');
  expect(code).toBe(64);
  expect((await project.run('--out', 'json', '--out', 'json', 'web1', 'test.ping')).code).toBe(0);
});

test('a template that asks hosts beside the run is an error that names them, the place, and what to do', async () => {
  const { code, stdout } = await project.run('web1', 'state.apply', 'asks');
  expect(code).not.toBe(0);
  expect(stdout).toMatch(/hosts that are not part of this run: db1/);
  expect(stdout).toMatch(/asks\.sls:3/);
  expect(stdout).toMatch(/mine_reach: roster/);
});
