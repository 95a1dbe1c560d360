import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/file.sls':
        '#!jinja|yaml\n{{ grains.root }}/made:\n  file.managed:\n    - contents: {{ grains.id }}\n',
      'states/fails.sls': 'a: {test.fail_without_changes: []}\n',
    },
  });
});
afterAll(() => project.close());

const made = (id: string): boolean => existsSync(join(project.hosts[id]?.root ?? '', 'made'));

test('the exit code is 21 while something would change, and nothing is changed', {
  tags: 'slow',
}, async () => {
  const drifted = await project.run('*', 'state.apply', 'file', '--expect-no-changes');
  expect(drifted.code).toBe(21);
  expect([made('web1'), made('web2')]).toEqual([false, false]);
  const xml = join(project.dir, 'run.xml');
  await project.run('web1', 'state.apply', 'file', '--expect-no-changes', `--report=junit=${xml}`);
  const report = readFileSync(xml, 'utf8');
  expect(report).toContain('failures="1"');
  expect(report).toContain('<failure message=');
  expect((await project.run('*', 'state.apply', 'file')).code).toBe(0);
  expect((await project.run('*', 'state.apply', 'file', '--expect-no-changes')).code).toBe(0);
});

test('a failure is more severe than a change', async () => {
  const { code } = await project.run('*', 'state.apply', 'file,fails', '--expect-no-changes');
  expect(code).toBe(20);
});

test.each([
  [['test.ping'], 'is for runs of states'],
  [['state.apply', 'file', 'test=False'], 'exclude each other'],
  [['-r', 'uptime'], 'is for runs of states'],
])('%j is refused with it', async (call, message) => {
  const { code, stderr } = await project.run('*', ...call, '--expect-no-changes');
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
});
