import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/mixed.sls':
        'good:\n  test.succeed_with_changes: []\nbad:\n  test.fail_without_changes: []\n',
      'states/good.sls': 'good:\n  test.succeed_with_changes: []\n',
    },
  });
});
afterAll(() => project.close());

const path = (name: string): string => join(project.dir, name);
const read = (name: string): string => readFileSync(path(name), 'utf8');

test('--report: writes private files in every format beside what the terminal shows', {
  tags: 'slow',
}, async () => {
  writeFileSync(path('run.json'), 'an older report', { mode: 0o644 });
  const formats = 'junit=run.xml,json=run.json,ndjson=run.ndjson,markdown=a, b.md';
  const plain = await project.run('*', 'state.apply', 'mixed', '--out=yaml', '--static');
  const { code, stdout, stderr } = await project.run(
    ...['*', 'state.apply', 'mixed', '--out=yaml', '--static', '--report', formats],
  );

  const withoutTimes = (text: string): string =>
    text
      .replace(/(start_time|duration): .*/g, '')
      .split('\n')
      .sort()
      .join('\n');
  expect([code, stderr, withoutTimes(stdout)]).toEqual([20, '', withoutTimes(plain.stdout)]);
  const results = JSON.parse(read('run.json')) as Record<string, object>;
  expect(Object.keys(results).sort()).toEqual(['web1', 'web2']);
  expect(Object.keys(results.web1 ?? {})).toHaveLength(2);
  expect(read('run.xml')).toMatch(/^<\?xml.*\n<testsuites name="tsalt-ssh" tests="4" failures="2"/);
  expect(read('a, b.md')).toContain('| web1 | failed | 0 | 1 | 0 | 1 |');
  const events = read('run.ndjson')
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { type: string }).type);
  expect(events.filter(type => type === 'host')).toHaveLength(2);
  for (const name of ['run.xml', 'run.json', 'run.ndjson', 'a, b.md'])
    expect([name, statSync(path(name)).mode & 0o777]).toEqual([name, 0o600]);
});

test('--report: one that cannot be written leaves run and other reports alone, and exits 74', async () => {
  const report = 'junit=missing/run.xml,markdown=/dev/full,json=other.json';
  const { code, stdout, stderr } = await project.run(
    ...['*', 'state.apply', 'good', '--report', report],
  );

  expect([code, stderr]).toEqual([
    74,
    `tsalt-ssh: The report missing/run.xml cannot be written: ENOENT: no such file or directory, open 'missing/run.xml'.
tsalt-ssh: The report /dev/full cannot be written: ENOSPC: no space left on device, write.
The run itself went on to its end: only its report is incomplete.
`,
  ]);
  expect(stdout.match(/Succeeded: 1 /g)).toHaveLength(2);
  expect(Object.keys(JSON.parse(read('other.json')) as object).sort()).toEqual(['web1', 'web2']);
  // The result of a host is more severe.
  const failed = await project.run('web1', 'state.apply', 'mixed', `--report=${report}`);
  expect(failed.code).toBe(20);
});

test('--report: a run that cannot be done leaves valid documents', async () => {
  const { code } = await project.run('none*', 'test.ping', '--report', 'json=none.json');
  expect([code, read('none.json')]).toEqual([67, '{}\n']);
});

test.each([
  ['pdf=x', "There is no report format 'pdf'."],
  ['jsn=x', "Did you mean 'json'?"],
  ['json', "'json' is not of the form FORMAT=FILE."],
  ['json=', "'json=' is not of the form FORMAT=FILE."],
  ['json=x,junit=x', "Two reports have the same file, 'x'."],
])('--report %s is refused before any host is contacted', async (value, message) => {
  const { code, stdout, stderr } = await project.run('*', 'test.ping', '--report', value);
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toContain(message);
});

test('two --out name --report', async () => {
  const { code, stderr } = await project.run('*', 'test.ping', '--out=json', '--out=yaml');
  expect([code, stderr]).toEqual([64, expect.stringContaining('--report html=FILE,json=FILE')]);
});
